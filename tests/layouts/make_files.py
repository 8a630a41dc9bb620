"""Writes small files with the real libraries into a directory; prints one line a file: name. What can not be imported is told on stderr."""
import os
import pickle
import sys

out = sys.argv[1]


def made(name):
    print(name)
    return os.path.join(out, name)


def torch_files():
    import torch
    model = torch.nn.Linear(64, 64)
    torch.save(model.state_dict(), made("model.pt"))
    with open(made("stream.pth"), "wb") as f:
        torch.save({"model": model.state_dict(), "epoch": 3}, f)
    torch.save(model.state_dict(), made("legacy.pt"), _use_new_zipfile_serialization=False)


def hdf5_files():
    import h5py
    import numpy
    for name, version in (("earliest.h5", "earliest"), ("latest.h5", "latest")):
        with h5py.File(made(name), "w", libver=version) as f:
            f["w"] = numpy.zeros((100, 100))


def numpy_files():
    import numpy
    numpy.save(made("a.npy"), numpy.arange(1000, dtype="float32").reshape(10, 100))
    numpy.save(made("scalar.npy"), numpy.float64(3))
    numpy.savez(made("b.npz"), x=numpy.arange(1000), y=numpy.ones((3, 4)))
    numpy.savez_compressed(made("c.npz"), x=numpy.arange(1000))


def pickle_files():
    for protocol in range(2, 6):
        with open(made(f"p{protocol}.pkl"), "wb") as f:
            pickle.dump({"step": 5, "names": ["a", "b"], "big": b"x" * 70000, "t": (1, 2.5, None, True)}, f, protocol=protocol)


for make in (torch_files, hdf5_files, numpy_files, pickle_files):
    try:
        make()
    except ImportError as error:
        print(f"left out: {error}", file=sys.stderr)
