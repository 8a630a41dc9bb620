"""The GPUs of the stand-in nvidia-smi, as a test sees and changes them."""
import json
import os
import shutil
import sys

from .nvidia_smi import APP_FIELDS, GPU_FIELDS, cell

FOLDER = os.path.dirname(os.path.abspath(__file__))

# What such cards draw while a context is held and nothing runs, in a collective that spins, and in dense work (share of a limit of 400 W as published).
HELD_W, SPIN_W, WORK_W = 70.0, 95.0, 330.0


class Gpus:
    """`count` GPUs behind `folder`/nvidia-smi. Every change is seen at the next reading."""

    def __init__(self, folder, count=1):
        self.folder = folder
        self.state = {"gpus": [self._fresh(i) for i in range(count)]}
        with open(os.path.join(FOLDER, "nvidia_smi.py"), encoding="utf-8") as file:
            text = file.read()
        os.makedirs(folder, exist_ok=True)
        full = os.path.join(folder, "nvidia-smi.full")
        with open(full, "w", encoding="utf-8") as file:
            file.write("#!%s -SE\n" % os.path.realpath(sys.executable) + text)
        os.chmod(full, 0o755)
        shutil.copy(os.path.join(FOLDER, "nvidia_smi.sh"), os.path.join(folder, "nvidia-smi"))
        os.chmod(os.path.join(folder, "nvidia-smi"), 0o755)
        with open(os.path.join(folder, "nvidia-smi.calls"), "w", encoding="utf-8"):
            pass
        os.chmod(os.path.join(folder, "nvidia-smi.calls"), 0o666)  # another user may run it
        self.write()

    @staticmethod
    def _fresh(index):
        return {"index": index, "uuid": "GPU-0000000%d-1111-2222-3333-444444444444" % index, "name": "NVIDIA A100-SXM4-80GB", "driver": "535.161.08",
                "persistence": "Enabled", "mig": "Disabled", "pstate": "P0", "mem_total": 81920, "mem_used": 4, "mem_free": 81916, "limit": 400.0,
                "power": 62.0, "sm_max": 1410, "sm": 1410, "util": 0, "mem_util": 0, "temp": 34, "throttle": "0x0000000000000001", "apps": []}

    def write(self):
        self._replace("nvidia-smi.json", json.dumps(self.state))
        self._replace("nvidia-smi.vars", self._variables())

    def _replace(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)

    def _variables(self):
        """The state for nvidia_smi.sh; empty when the tool is to behave in any unusual way."""
        if set(self.state) != {"gpus"}:
            return ""
        lines, apps = ["plain=1"], []
        for gpu in self.state["gpus"]:
            gpu["count"] = len(self.state["gpus"])
            lines += ["gpu%d_%s='%s'" % (gpu["index"], field.replace(".", "_"), cell(gpu.get(key), "", True)) for field, (key, _) in GPU_FIELDS.items()]
            for app in gpu["apps"]:
                values = dict(app, uuid=gpu["uuid"], gpu_name=gpu["name"])
                lines += ["app%d_%s='%s'" % (len(apps), field, cell(values.get(key), "", True)) for field, key in APP_FIELDS.items()]
                apps.append(len(apps))
        return "\n".join(lines + ["gpus='%s'" % " ".join(str(g["index"]) for g in self.state["gpus"]), "apps='%s'" % " ".join(map(str, apps))]) + "\n"

    def set(self, index=None, **values):
        """Fields of one GPU, or of all."""
        for gpu in self.state["gpus"]:
            if index in (None, gpu["index"]):
                gpu.update(values)
        self.write()

    def hold(self, pid, mib=40000, index=None):
        self.set(index, apps=[{"pid": pid, "name": "python", "mem": mib}], mem_used=mib + 4, mem_free=81916 - mib)

    def work(self, index=None):
        self.set(index, util=97, mem_util=48, power=WORK_W, sm=1410, temp=64, throttle="0x0000000000000004")

    def idle(self, index=None):
        self.set(index, util=0, mem_util=0, power=HELD_W, temp=40, throttle="0x0000000000000001")

    def spin(self, index=None):
        self.set(index, util=100, mem_util=0, power=SPIN_W, temp=45, throttle="0x0000000000000000")

    def free(self, index=None):
        self.set(index, apps=[], mem_used=4, mem_free=81916, util=0, mem_util=0, power=62.0, throttle="0x0000000000000001")

    def behave(self, **how):
        """hang=True, deaf=True (ignores TERM), text=…, exit=N, rows_as_well=True, takes=SECONDS, refused=[fields]; None ends it."""
        for key, value in how.items():
            if value is None:
                self.state.pop(key, None)
            else:
                self.state[key] = value
        self.write()

    def calls(self):
        with open(os.path.join(self.folder, "nvidia-smi.calls"), encoding="utf-8") as file:
            return [json.loads(line) for line in file]

    def readings(self):
        """The calls that asked for the cards themselves."""
        return [call for call in self.calls() if call.get("argv", [""])[0].startswith("--query-gpu")]
