# trainvigil probe
