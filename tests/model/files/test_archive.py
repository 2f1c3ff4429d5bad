"""Archives: what is read is what was written, and no file takes more than its size allows."""

import io
import subprocess
import zipfile

import numpy as np
import pytest

from kernelweave.model.files import archive
from kernelweave.model.files.archive import Archive, write_archive

ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.zeros((0, 4)),
    np.array(3.5),
    np.array([True, False]),
    np.array(["one", "three"]),
    np.array([b"a", b"bcd"]),
    np.arange(3, dtype=np.uint8),
    np.arange(3, dtype=">i4"),
    np.array(["2026-01-01"], dtype="datetime64[D]"),
    np.broadcast_to(1.0, 5),
]


def written(document=None, **arrays):
    file = io.BytesIO()
    write_archive(file, "doc.json", document, arrays)
    return file


def members(file):
    with zipfile.ZipFile(file) as found:
        return {name: found.read(name) for name in found.namelist()}


def packed(parts, method=zipfile.ZIP_DEFLATED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, content in parts.items():
            made.writestr(name, content)
    return file


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_come_back(array):
    back = Archive(written(x=array), "doc.json").array("x")
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


def test_documents_come_back():
    document = {"a": [1, 2.5, None, "ü", {"b": []}]}
    assert Archive(written(document), "doc.json").document() == document


def test_checksums_are_those_of_sha256sum(tmp_path):
    (tmp_path / "a.zip").write_bytes(written([1, 2], x=np.arange(3)).getvalue())
    with zipfile.ZipFile(tmp_path / "a.zip") as found:
        found.extractall(tmp_path)
    subprocess.run(["sha256sum", "--check", archive.SUMS], cwd=tmp_path, check=True)


@pytest.mark.parametrize("name", ["doc.json", "x.npy"])
def test_a_changed_member_is_noticed(name):
    parts = members(written([1, 2], x=np.arange(3)))
    parts[name] = parts[name].replace(b"2", b"3").replace(b"\x02\x00\x00", b"\x03\x00\x00")
    found = Archive(packed(parts), "doc.json")
    with pytest.raises(ValueError, match="does not match"):
        (found.document(), found.array("x"))


def header(text):
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


GOOD = b"{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }\n"


@pytest.mark.parametrize(
    "content",
    [
        header(GOOD) + bytes(8),
        header(GOOD) + bytes(24),
        header(GOOD.replace(b"(2,)", b"(1000000000000,)")) + bytes(16),
        header(GOOD.replace(b"(2,)", b"(" + b"9" * 500 + b",)")) + bytes(16),
        header(GOOD.replace(b"(2,)", b"(-2,)")) + bytes(16),
        header(GOOD.replace(b"<f8", b"|O8")) + bytes(16),
        header(GOOD.replace(b"'<f8'", b"[('a', '<f8')]")) + bytes(16),
        header(GOOD.replace(b"<f8", b"<f7")) + bytes(14),
        header(GOOD.replace(b"<f8", b"|S0")) + bytes(0),
        header(b"{'descr': __import__('os'), }\n"),
        header(b"(" * 5000),
        header(GOOD)[:20],
        b"\x93NUMPY\x09\x00",
        b"",
    ],
)
def test_headers_that_lie_are_refused_before_memory_is_taken(content):
    with pytest.raises((ValueError, TypeError)):
        Archive(packed({"doc.json": "1", "x.npy": content}), "doc.json").array("x")


@pytest.mark.parametrize(
    "parts",
    [
        {"doc.json": b"[" + b"[]," * 6_000_000 + b"1]"},
        {"doc.json": b"1", "x.npy": bytes(300_000_000)},
        {"doc.json": b"1"} | {f"{i}.npy": bytes(50_000_000) for i in range(6)},
        {"doc.json": b"1", archive.SUMS: bytes(20_000_000)},
    ],
)
def test_bombs_are_refused_by_their_declared_size(parts):
    with pytest.raises(ValueError, match="would unpack to"):
        Archive(packed(parts), "doc.json")


def test_highly_compressible_arrays_are_stored_uncompressed(monkeypatch):
    monkeypatch.setattr(archive, "MAX_FREE_ARRAYS", 1000)
    file = written(x=np.zeros(10_000))
    assert len(file.getvalue()) > 80_000
    assert not Archive(file, "doc.json").array("x").any()


def test_other_ways_of_packing_are_refused():
    file = packed({"doc.json": "1"}, zipfile.ZIP_LZMA)
    with pytest.raises(ValueError, match="unknown compression method"):
        Archive(file, "doc.json")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("doc.json", "1")
        made.writestr("doc.json", "2")
    with pytest.raises(ValueError, match="two members have the same name"):
        Archive(file, "doc.json")


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", "{", ""])
def test_documents_are_strict_json(text):
    with pytest.raises(ValueError, match=r"not a JSON number|Expecting"):
        Archive(packed({"doc.json": text}), "doc.json").document()


def test_two_members_of_one_object_with_one_name_are_refused():
    with pytest.raises(ValueError, match="two members of the same name"):
        Archive(packed({"doc.json": '[{"a": 1, "b": 2, "a": 3}]'}), "doc.json").document()


def test_equal_contents_make_equal_files(monkeypatch):
    first = written([1, 2], x=np.arange(3)).getvalue()
    monkeypatch.setattr("time.time", lambda: 0.0)
    assert written([1, 2], x=np.arange(3)).getvalue() == first
