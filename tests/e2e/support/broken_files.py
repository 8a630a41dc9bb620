"""Writes files of every format with the real libraries, whole and broken in every way, each as the only file of a save of its own directory.

broken_files.py FOLDER: makes FOLDER/BATCH/CASE/step-1/FILE, dated back, some hundred cases a batch; prints a JSON object
{"BATCH/CASE": [expected, expected of --verify]}, where expected is "whole", "broken", or "any" where the format can not tell. What can not be imported is told on stderr.
"""
import io
import json
import os
import pickle
import random
import struct
import sys
import tarfile
import zipfile

BATCH = 60
WHOLE, BROKEN, ANY = "whole", "broken", "any"


def safetensors(tensors, padding=0):
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, shape, size) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode() + b" " * padding
    return struct.pack("<Q", len(text)) + text + random.randbytes(end)


def gguf():
    def text(s):
        return struct.pack("<Q", len(s)) + s
    out = b"GGUF" + struct.pack("<IQQ", 3, 2, 2)
    out += text(b"general.architecture") + struct.pack("<I", 8) + text(b"llama")
    out += text(b"general.alignment") + struct.pack("<II", 4, 64)
    out += text(b"a") + struct.pack("<IQQIQ", 2, 32, 20, 8, 0)  # Q8_0: 20 blocks of 34 bytes
    out += text(b"b") + struct.pack("<IQIQ", 1, 100, 0, 704)
    out += b"\0" * (-len(out) % 64)
    return out + random.randbytes(680) + b"\0" * 24 + random.randbytes(400)


def zipped(members, how=zipfile.ZIP_STORED, comment=b""):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as archive:
        archive.comment = comment
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def plain_files():
    yield "padded.safetensors", safetensors({"w": ("F32", [100, 20], 8000), "b": ("BF16", [7], 14)}, padding=5)
    yield "empty-tensors.safetensors", safetensors({"a": ("F32", [0, 5], 0), "scalar": ("F64", [], 8), "b": ("I8", [3000], 3000), "c": ("F32", [0], 0)})
    yield "no-tensors.safetensors", safetensors({})
    yield "model.gguf", gguf()
    yield "commented.zip", zipped({"a": random.randbytes(50000), "b": b""}, comment=b"made by a test")
    yield "packed.zip", zipped({"a": random.randbytes(50000), "b": b"text " * 5000}, zipfile.ZIP_DEFLATED)
    yield "model.keras", zipped({"metadata.json": "{}", "config.json": "{}", "model.weights.h5": random.randbytes(100000)})
    for protocol in (2, 4):
        yield "p%d.pkl" % protocol, pickle.dumps({"step": 5, "big": random.randbytes(70000), "t": (1, 2.5, None)}, protocol)
    state = {"epoch": 1.0, "loss": float("nan"), "text": "a } b \\ \" c", "list": [{}] * 50}
    yield "plain.json", json.dumps(state).encode()
    yield "marked.json", b"\xef\xbb\xbf" + json.dumps(state, indent=2).encode()
    yield "huge.json", json.dumps({"a": list(range(300000))}, indent=1).encode()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for name, size in (("config.yaml", 300), ("weights.ckpt", 40000)):
            info = tarfile.TarInfo(name)
            info.size = size
            archive.addfile(info, io.BytesIO(random.randbytes(size)))
    yield "model.nemo", out.getvalue()


def torch_files():
    import torch
    model = torch.nn.Linear(200, 200)
    for name, how in (("path.pt", {}), ("stream.pth", {}), ("legacy.pt", {"_use_new_zipfile_serialization": False})):
        out = io.BytesIO()
        torch.save({"model": model.state_dict(), "epoch": 3}, out, **how)
        yield name, out.getvalue()


def hdf5_files():
    import h5py
    import numpy
    for name, version, block in (("v0.h5", "earliest", 0), ("v2.h5", "v108", 0), ("v3.h5", "latest", 0), ("user-block.h5", "earliest", 512)):
        out = io.BytesIO()
        with h5py.File(out, "w", libver=version, userblock_size=block) as file:
            file["w"] = numpy.random.rand(100, 50)
        yield name, out.getvalue()


def numpy_files():
    import numpy
    from numpy.lib import format as npy
    for name, array, version in (("v1.npy", numpy.random.rand(30, 40), (1, 0)), ("v2.npy", numpy.arange(5000), (2, 0)),
                                 ("v3.npy", numpy.ones(900, dtype=[("\u03b1", "<f4")]), (3, 0)), ("fortran.npy", numpy.asfortranarray(numpy.random.rand(30, 40)), None),
                                 ("scalar.npy", numpy.float64(3), None), ("text.npy", numpy.array(["ab", "cdef"] * 50), None),
                                 ("dates.npy", numpy.arange("2026-01", "2026-03", dtype="M8[D]"), None),
                                 ("records.npy", numpy.zeros(60, dtype=[("a", "<i2"), ("b", [("x", "<f8"), ("y", "S3")], (2, 3)), (("t", "c"), "?")]), None)):
        out = io.BytesIO()
        npy.write_array(out, numpy.asanyarray(array), version=version)
        yield name, out.getvalue()
    for name, save in (("stored.npz", numpy.savez), ("packed.npz", numpy.savez_compressed)):
        out = io.BytesIO()
        save(out, x=numpy.random.rand(3000), y=numpy.ones((3, 4)))
        yield name, out.getvalue()


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 0x10]) + data[at + 1:]


def broken(name, data):
    """What is done to a whole file, with what can be known of it then."""
    kind = name.rsplit(".", 1)[1]
    size = len(data)
    archive = kind in ("pt", "pth", "zip", "keras", "npz")
    behind = name == "user-block.h5"  # its first bytes are the user's
    silent = name == "legacy.pt"  # nothing in the file tells how long it is
    for keep in sorted({0, 1, 60, size // 2, size - 22, size - 1}):
        if 0 <= keep < size:
            yield "cut-%d" % keep, data[:keep], ANY if silent and keep > 14 else BROKEN
    yield "zeros", b"\0" * size, BROKEN
    # Reserved and never written to its end. Where only numbers stand there, zeros are as good as any.
    tail = min(size // 3, 20000)
    yield "zero-tail", data[:-tail] + b"\0" * tail, BROKEN if archive and not silent or kind in ("json", "pkl") else ANY
    yield "zero-head", b"\0" * min(size, 600) + data[600:], BROKEN if not silent or size > 600 else ANY
    if kind != "json":
        yield "bit-0", flipped(data, 0), ANY if kind in ("pt", "pth", "pkl", "nemo") and not archive or silent or behind or kind == "nemo" else BROKEN
    if archive and not silent:
        yield "bit-trailer", flipped(data, size - 20 - (14 if name == "commented.zip" else 0)), BROKEN
        yield "bit-data", flipped(data, size // 2), (ANY, BROKEN)
        yield "hole", data[:size // 2] + b"\0" * 300 + data[size // 2 + 300:], (ANY, BROKEN)
    if kind == "h5" and name in ("v2.h5", "v3.h5"):
        yield "bit-superblock", flipped(data, 20), BROKEN
    yield "garbage", data + b"garbage" * 20, BROKEN if kind == "safetensors" or kind == "json" else ANY


def main(folder):
    random.seed(7)
    expected = {}

    def make(case, name, data, say):
        case = "%02d/%s" % (len(expected) // BATCH, case)
        path = os.path.join(folder, case, "step-1", name)
        os.makedirs(os.path.dirname(path))
        other = os.path.join(os.path.dirname(path), "other.bin")  # something of which nothing can be known makes a save of any file
        for place, content in ((path, data), (other, b"b" * 5000)):
            with open(place, "wb") as file:
                file.write(content)
        for place in (path, other, os.path.dirname(path)):
            os.utime(place, (1700000000, 1700000000))
        expected[case] = list(say) if isinstance(say, tuple) else [say, say]

    for files in (plain_files, torch_files, hdf5_files, numpy_files):
        try:
            made = list(files())
        except ImportError as error:
            print("left out: %s" % error, file=sys.stderr)
            continue
        for name, data in made:
            make(name.replace(".", "-"), name, data, WHOLE)
            for how, content, say in broken(name, data):
                make(name.replace(".", "-") + "-" + how, name, content, say)
    json.dump(expected, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
