"""Progress lines of output that is not a terminal."""

from types import SimpleNamespace

from kernelweave.optimization import progress

STATE = SimpleNamespace(seconds=2.0, phase="double precision", primal=3.5, gap=0.01)


def test_lines_are_a_second_apart(capsys, monkeypatch):
    clock = iter((100.0, 100.5, 101.0, 101.0, 101.5, 102.0, 102.0))  # read again for a line
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(clock))
    with progress.live_line("fit") as watch:
        for _ in range(4):
            watch(STATE)
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(",")[0] for line in lines] == ["fit: iteration 1", "fit: iteration 3"]
    assert lines[0] == (
        "fit: iteration 1, 2.0 s, double precision, objective 3.5, duality gap 1.00e-02"
    )
