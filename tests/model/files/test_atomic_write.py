"""Atomic writes: a file has the old or the new contents, and no other file remains."""

import os
import threading
import time

import pytest

from kernelweave.model.files.atomic_write import atomic_write, check_writable


def test_a_file_appears_only_when_complete(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with atomic_write(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["a"]


def test_a_failed_write_keeps_the_old_file(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")

    def interrupted():
        with atomic_write(path) as file:
            file.write(b"new")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["a"]


def test_two_writers_do_not_share_a_file(tmp_path):
    path = tmp_path / "a"
    with atomic_write(path) as first, atomic_write(path) as second:
        first.write(b"first")
        second.write(b"second")
    assert path.read_bytes() == b"first"  # the last one to end
    assert os.listdir(tmp_path) == ["a"]


def test_files_are_synchronised_before_renaming(tmp_path, monkeypatch):
    calls = []
    for name in ("fsync", "replace"):
        real = getattr(os, name)
        monkeypatch.setattr(os, name, lambda *a, n=name, f=real: (calls.append(n), f(*a)))
    with atomic_write(tmp_path / "a") as file:
        file.write(b"new")
    assert calls == ["fsync", "replace", "fsync"]


def test_modes_follow_the_umask(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    with atomic_write(tmp_path / "b") as file:
        file.write(b"")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "b").stat().st_mode


def test_a_private_file_stays_private(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    with atomic_write(path) as file:
        file.write(b"new")
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"new", 0o600)


def test_long_names_are_accepted(tmp_path):
    with atomic_write(tmp_path / ("a" * 250)) as file:
        file.write(b"x")
    assert os.listdir(tmp_path) == ["a" * 250]


def test_files_of_killed_processes_are_removed_after_a_day(tmp_path):
    names = ("m[1].kw.0123456789abcdef", "m[1].kw.fedcba9876543210", "n.kw.0123456789abcdef")
    old, new, other = (tmp_path / f"{name}.part" for name in names)
    for part in (old, new, other):
        part.write_bytes(b"half")
    long_ago = time.time() - 2 * 86_400
    os.utime(old, (long_ago, long_ago))
    os.utime(other, (long_ago, long_ago))
    with atomic_write(tmp_path / "m[1].kw") as file:
        file.write(b"whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        ["m[1].kw", new.name, other.name]
    )


def test_links_are_followed(tmp_path):
    (tmp_path / "a").write_bytes(b"old")
    (tmp_path / "link").symlink_to("a")
    with atomic_write(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_bytes() == b"new"


def test_pipes_are_written_to_and_stay(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    found = []
    reader = threading.Thread(target=lambda: found.append(path.read_bytes()))
    reader.start()
    with atomic_write(path) as file:
        file.write(b"new")
    reader.join()
    assert found == [b"new"]
    assert path.is_fifo()


@pytest.mark.parametrize(("name", "error"), [("no/a", FileNotFoundError), (".", IsADirectoryError)])
def test_unwritable_paths_are_named_as_given(name, error, tmp_path):
    path = tmp_path / name
    with pytest.raises(error) as caught, atomic_write(path) as file:
        file.write(b"new")
    assert caught.value.filename == str(path)
    with pytest.raises(error):
        check_writable(path)
