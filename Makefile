# Thin on purpose: everything is in tools/, so that it can be called from anywhere and read by shellcheck.
.PHONY: run test fuzz

run: ## build and watch a stand-in training job on this machine
	@tools/run.sh

test: ## build and run every test
	@tools/test.sh

fuzz: ## run each fuzz target for a minute
	@tools/fuzz.sh 60
