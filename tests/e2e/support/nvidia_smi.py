"""A stand-in for nvidia-smi. It answers from nvidia-smi.json beside itself, which tests rewrite, and notes its calls in nvidia-smi.calls.

Installed by support.gpu with the right first line. It copes with what a careful caller asks: --query-gpu and --query-compute-apps with any list of
fields, --format=csv with noheader and nounits, -i, and the loops -l and -lms, which end on TERM.
"""
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))

# field: (key of the state, unit)
GPU_FIELDS = {
    "index": ("index", ""), "uuid": ("uuid", ""), "gpu_uuid": ("uuid", ""), "name": ("name", ""), "gpu_name": ("name", ""),
    "driver_version": ("driver", ""), "persistence_mode": ("persistence", ""), "mig.mode.current": ("mig", ""), "pstate": ("pstate", ""),
    "count": ("count", ""), "memory.total": ("mem_total", " MiB"), "memory.used": ("mem_used", " MiB"), "memory.free": ("mem_free", " MiB"),
    "power.limit": ("limit", " W"), "enforced.power.limit": ("limit", " W"), "power.draw": ("power", " W"),
    "clocks.max.sm": ("sm_max", " MHz"), "clocks.sm": ("sm", " MHz"), "utilization.gpu": ("util", " %"), "utilization.memory": ("mem_util", " %"),
    "temperature.gpu": ("temp", ""), "clocks_throttle_reasons.active": ("throttle", ""), "clocks_event_reasons.active": ("throttle", ""),
}
APP_FIELDS = {"gpu_uuid": "uuid", "pid": "pid", "process_name": "name", "used_memory": "mem", "used_gpu_memory": "mem", "gpu_name": "gpu_name"}


def state():
    with open(os.path.join(HERE, "nvidia-smi.json"), encoding="utf-8") as file:
        return json.load(file)


def note(**event):
    event["pid"] = os.getpid()
    line = (json.dumps(event) + "\n").encode()
    handle = os.open(os.path.join(HERE, "nvidia-smi.calls"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(handle, line)
    os.close(handle)


def ended(number, _frame):
    note(signal=signal.Signals(number).name)
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def say(text):
    sys.stdout.write(text)
    sys.stdout.flush()


def cell(value, unit, nounits):
    if value is None:
        return "[N/A]"
    if isinstance(value, float):
        value = "%.2f" % value
    text = str(value)
    return text if nounits or not unit or text.startswith("[") else text + unit


def gpu_rows(now, fields, nounits, only):
    for gpu in now["gpus"]:
        if only is not None and str(gpu["index"]) not in only and gpu["uuid"] not in only:
            continue
        yield ", ".join(cell(gpu.get(GPU_FIELDS[f][0]), GPU_FIELDS[f][1], nounits) for f in fields)


def app_rows(now, fields, nounits):
    for gpu in now["gpus"]:
        for app in gpu.get("apps", []):
            values = dict(app, uuid=gpu["uuid"], gpu_name=gpu["name"])
            yield ", ".join(cell(values.get(APP_FIELDS[f]), " MiB" if APP_FIELDS[f] == "mem" else "", nounits) for f in fields)


def options(argv):
    """Long options with = or a separate value; short ones with a separate value."""
    found, i = {}, 0
    while i < len(argv):
        name, equals, value = argv[i].partition("=")
        if not equals and name not in ("-L", "--list-gpus", "-q"):
            i += 1
            value = argv[i] if i < len(argv) else ""
        found[name] = value
        i += 1
    return found


def main():
    now = state()
    note(argv=sys.argv[1:])
    signal.signal(signal.SIGTERM, signal.SIG_IGN if now.get("deaf") else ended)
    if now.get("hang"):
        while True:
            signal.pause()
    if now.get("takes"):
        time.sleep(now["takes"])
    if now.get("text") is not None:
        say(now["text"])
        if not now.get("rows_as_well"):
            return now.get("exit", 0)

    asked = options(sys.argv[1:])
    for gpu in now["gpus"]:
        gpu.setdefault("count", len(now["gpus"]))
    if "-L" in asked or "--list-gpus" in asked:
        for gpu in now["gpus"]:
            say("GPU %d: %s (UUID: %s)\n" % (gpu["index"], gpu["name"], gpu["uuid"]))
        return 0
    kind = "--query-gpu" if "--query-gpu" in asked else "--query-compute-apps"
    if kind not in asked:
        say("Invalid combination of input arguments. Please run 'nvidia-smi -h' for help.\n")
        return 1
    known = GPU_FIELDS if kind == "--query-gpu" else APP_FIELDS
    fields = [f.strip() for f in asked[kind].split(",")]
    for field in fields:
        if field not in known or field in now.get("refused", []):
            say('Field "%s" is not a valid field to query.\n\n' % field)
            return 2
    style = asked.get("--format", "csv").split(",")
    only = asked["-i"].split(",") if "-i" in asked else None
    pause = None
    if "-lms" in asked or "--loop-ms" in asked:
        pause = float(asked.get("-lms", asked.get("--loop-ms"))) / 1000.0
    elif "-l" in asked or "--loop" in asked:
        pause = float(asked.get("-l", asked.get("--loop")) or 5)
    if "noheader" not in style:
        say(", ".join(fields) + "\n")
    while True:
        rows = gpu_rows(now, fields, "nounits" in style, only) if kind == "--query-gpu" else app_rows(now, fields, "nounits" in style)
        say("".join(row + "\n" for row in rows))
        if pause is None:
            return now.get("exit", 0)
        time.sleep(pause)
        now = state()


if __name__ == "__main__":
    sys.exit(main())
