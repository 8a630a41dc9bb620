"""Checkpoint files whose format is right, without the libraries that usually write them: safetensors and the zip that torch.save makes.

The directory layout is that of speculators: N/config.json, model.safetensors, optimizer_state_dict.pt, scheduler_state_dict.pt, training_state.json
(the last one written, which makes the save whole) and then the link epochN_end.
"""
import json
import os
import struct
import zlib


def safetensors(payload_bytes, name="model.embed_tokens.weight"):
    """One tensor of bytes. The header is padded with blanks to a multiple of eight, as the reference writer does."""
    header = json.dumps({"__metadata__": {"format": "pt"}, name: {"dtype": "U8", "shape": [payload_bytes], "data_offsets": [0, payload_bytes]}},
                        separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + os.urandom(4096) * (payload_bytes // 4096) + b"\0" * (payload_bytes % 4096)


def torch_zip(payload_bytes, stem="archive"):
    """Stored entries with data descriptors, then a zip64 end record, its locator and the end record: 98 bytes, always, no comment."""
    entries = [("%s/data.pkl" % stem, b"\x80\x02}q\x00."), ("%s/data/0" % stem, b"\x01" * payload_bytes), ("%s/version" % stem, b"3\n")]
    out, directory = bytearray(), bytearray()
    for name, data in entries:
        offset, raw, crc = len(out), name.encode(), zlib.crc32(data)
        out += struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 0, 0x0808, 0, 0, 0, 0, 0, 0, len(raw), 0) + raw + data
        out += struct.pack("<4sIII", b"PK\7\x08", crc, len(data), len(data))
        directory += struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 0, 0, 0x0808, 0, 0, 0, crc, len(data), len(data), len(raw), 0, 0, 0, 0, 0, offset) + raw
    start = len(out)
    out += directory
    end = len(out)
    out += struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 0, 45, 0, 0, len(entries), len(entries), len(directory), start)
    out += struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    out += struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, len(entries), len(entries), len(directory), start, 0)
    return bytes(out)


MODEL_BYTES, OPTIMIZER_BYTES = 3 << 20, 5 << 20


def parts(epoch):
    """The files of one save in the order in which they are written."""
    yield "config.json", json.dumps({"architectures": ["Eagle3Speculator"], "hidden_size": 4096}).encode()
    yield "model.safetensors", safetensors(MODEL_BYTES)
    yield "optimizer_state_dict.pt", torch_zip(OPTIMIZER_BYTES)
    yield "scheduler_state_dict.pt", torch_zip(1024)
    yield "training_state.json", json.dumps({"epoch": epoch, "local_step": 0, "global_step": 1000 * (epoch + 1)}).encode()


def write_checkpoint(root, epoch, modified=None):
    """A whole save; `modified` dates it back."""
    folder = os.path.join(root, str(epoch))
    os.makedirs(folder, exist_ok=True)
    for name, data in parts(epoch):
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(data)
        if modified is not None:
            os.utime(path, (modified, modified))
    link = os.path.join(root, "epoch%d_end" % epoch)
    if os.path.lexists(link):
        os.unlink(link)
    os.symlink(str(epoch), link)
    if modified is not None:
        os.utime(folder, (modified, modified))
        os.utime(link, (modified, modified), follow_symlinks=False)
