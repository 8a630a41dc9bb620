"""Traces made by hand, in the format of docs/trace-format.md."""
import json


def header(**job):
    return {"schema": "trainvigil.trace/1", "job": dict({"name": "eagle3", "host": "gpu1"}, **job)}


def observation(time, host_offset=0.0, **fields):
    """One look at `time`; the host's clock is `host_offset` ahead."""
    seen = {"schema": "trainvigil.observation/1", "watcher_time": time, "reach": "ok", "error": None,
            "host": {"time": time + host_offset, "boot_id": "6f7cf3b1-0000-4000-8000-000000000001", "uptime_s": 900000.0, "cores": 64, "load1": 3.1},
            "kernel": [], "files_error": None, "gpu_error": None}
    seen.update(fields)
    return seen


def process(start, now, pid=4242, **fields):
    """A busy training process that has used most of a core since its start."""
    return dict({"pid": pid, "ppid": 1, "state": "R", "start": start, "start_ticks": 123456, "cpu_s": 0.9 * (now - start),
                 "read_bytes": int(2e6 * (now - start)), "write_bytes": 0, "rss_kib": 30 << 20, "threads": 57, "main": True,
                 "cmdline": "python 04_train.py --output /data/out"}, **fields)


def busy_gpu(pid=4242, **fields):
    return dict({"index": 0, "uuid": "GPU-0", "name": "NVIDIA A100-SXM4-80GB", "util_pct": 97, "util_max_pct": 100, "readings": 3, "mem_util_pct": 55,
                 "mem_used_mib": 61000, "mem_total_mib": 81920, "power_w": 355.0, "power_limit_w": 400.0, "sm_mhz": 1410, "temp_c": 64,
                 "throttle": "0x0000000000000004", "pids": [pid]}, **fields)


def save(path, finished, size):
    """The files of one finished save of a model of `size` bytes, the last of them written at `finished`."""
    weights = size // 3
    files = [{"path": path, "type": "d", "bytes": None, "mtime": finished}]
    for name, share, before in (("config.json", 900, 30), ("model.safetensors", weights, 20), ("optimizer_state_dict.pt", size - weights - 4000, 4),
                                ("scheduler_state_dict.pt", 3000, 3), ("training_state.json", 100, 0)):
        files.append({"path": path + "/" + name, "type": "f", "bytes": share, "mtime": finished - before})
    return files


def write(path, lines):
    with open(path, "w", encoding="utf-8") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")
    return path
