"""Background regions: alike in length, GC content and repeats, and never overlapping."""

import numpy as np
import pytest

from kernelweave.genome import Region, Regions, negatives, read_letters


@pytest.fixture
def genome(tmp_path, rng):
    """Two chromosomes whose GC content and repeats vary from place to place."""
    path = tmp_path / "genome.fa"
    with path.open("w") as file:
        for name, blocks in (("c1", 60), ("c2", 20)):
            file.write(f">{name} made up\n")
            for _ in range(blocks):
                gc = rng.uniform(0.2, 0.8)
                letters = rng.choice(
                    list("ACGT"), 500, p=[(1 - gc) / 2, gc / 2, gc / 2, (1 - gc) / 2]
                )
                small = rng.uniform(size=500) < rng.choice([0.0, 1.0])
                text = "".join(np.where(small, np.char.lower(letters), letters))
                file.write((text[:490] + "N" * 10 if rng.uniform() < 0.2 else text) + "\n")
    return read_letters(path)


@pytest.fixture
def positives(genome, rng):
    found = []
    for start in range(100, 29_000, 900):
        length = int(rng.integers(20, 60))
        text = genome["c1"][start : start + length].tobytes()
        if b"N" not in text:
            found.append(Region("c1", start, start + length, "", "+"))
    return Regions(found, "peaks.bed")


def share(genome, region, letters):
    text = genome[region.chromosome][region.start : region.stop].tobytes().decode()
    return sum(letter in letters for letter in text) / len(text)


def overlap(one, other):
    return one.chromosome == other.chromosome and one.start < other.stop and other.start < one.stop


def test_negatives_match_and_never_overlap(genome, positives):
    exclude = Regions([Region("c2", 0, 4000, "", ".")], "exclude.bed")
    found = negatives(positives, genome, exclude=exclude, gc=0.05, repeats=0.05)
    drawn = found.regions.items
    assert found.unmatched == 0
    for positive, negative in zip(positives, drawn, strict=True):
        assert negative.stop - negative.start == positive.stop - positive.start
        assert negative.stop <= len(genome[negative.chromosome])
        for letters in ("GCgc", "acgt"):
            apart = share(genome, positive, letters) - share(genome, negative, letters)
            assert abs(apart) <= 0.05 + 1e-12
        assert share(genome, negative, "ACGTacgt") == 1
    everything = [*positives, *exclude, *drawn]
    pairs = [
        (a, b) for i, a in enumerate(drawn) for b in everything[: len(everything) - len(drawn) + i]
    ]
    assert not any(overlap(a, b) for a, b in pairs if a is not b)


def test_negatives_report_the_reached_match(genome, positives):
    found = negatives(positives, genome, gc=0.1, repeats=0.1)
    wanted = np.mean([share(genome, one, "GCgc") for one in positives])
    reached = np.mean([share(genome, one, "GCgc") for one in found.regions])
    assert found.gc == pytest.approx((wanted, reached))
    assert max(found.farthest) <= 0.1


def test_draws_differ_by_seed_and_repeat(genome, positives):
    draws = [negatives(positives, genome, gc=0.1, repeats=0.1, seed=seed) for seed in (0, 0, 1)]
    assert draws[0].regions.items == draws[1].regions.items
    assert draws[0].regions.items != draws[2].regions.items


def test_several_draws_overlap_nowhere(genome, positives):
    found = negatives(positives, genome, gc=0.2, repeats=0.2, draws=3)
    assert len(found.regions) == 3 * len(positives)
    lengths = [one.stop - one.start for one in positives]
    assert [one.stop - one.start for one in found.regions] == 3 * lengths
    covered = {(one.chromosome, at) for one in found.regions for at in range(one.start, one.stop)}
    assert len(covered) == 3 * sum(lengths)


def test_files_are_taken_as_well(genome, positives, tmp_path):
    fasta = [f">{name}\n{bytes(letters).decode()}\n" for name, letters in genome.items()]
    (tmp_path / "g.fa").write_text("".join(fasta))
    rows = [f"{one.chromosome}\t{one.start}\t{one.stop}\n" for one in positives]
    (tmp_path / "p.bed").write_text("".join(rows))
    given = {"gc": 0.2, "repeats": 0.2}
    drawn = negatives(tmp_path / "p.bed", tmp_path / "g.fa", exclude=tmp_path / "p.bed", **given)
    whole = negatives(positives, genome, **given)
    places = [[one[:3] for one in found.regions] for found in (drawn, whole)]
    assert places[0] == places[1]


@pytest.mark.parametrize("wrong", [{"gc": -0.1}, {"repeats": -1}, {"draws": 0}])
def test_bad_wishes_are_named(wrong, genome, positives):
    with pytest.raises(ValueError, match=f"{next(iter(wrong))} must be at least"):
        negatives(positives, genome, **wrong)


def test_regions_without_a_match_are_counted(genome, monkeypatch):
    monkeypatch.setattr("kernelweave.genome.background.ROUNDS", 3)
    alone = {"c1": np.frombuffer(b"A" * 300 + b"G" * 40 + b"A" * 300, dtype=np.uint8)}
    positives = Regions([Region("c1", 300, 340, "", "+")], "peaks.bed")
    found = negatives(positives, alone)
    assert found.unmatched == 1
    assert len(found.regions) == 0


@pytest.mark.parametrize(
    ("region", "message"),
    [
        (Region("c9", 0, 5, "", "+"), "no chromosome c9; the file has c9, the genome has c1, c2"),
        (Region("c2", 0, 10**6, "", "+"), "beyond its chromosome of 10000 bases"),
    ],
)
def test_regions_outside_the_genome_are_named(region, message, genome):
    with pytest.raises(ValueError, match=message):
        negatives(Regions([region], "peaks.bed"), genome)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ACGT\n", "begins with '>'"),
        (">a\nAC\n>a\nGT\n", "occurs twice"),
        (">\nAC\n", "no name"),
        ("", "begins with"),
    ],
)
def test_files_that_are_no_genomes_are_named(text, message, tmp_path):
    (tmp_path / "bad.fa").write_text(text)
    with pytest.raises(ValueError, match=message):
        read_letters(tmp_path / "bad.fa")


def test_letters_keep_their_case(tmp_path):
    (tmp_path / "a.fa").write_bytes(b">one x>y\r\nACgt\r\nNN\r\n>two\nA")
    found = read_letters(tmp_path / "a.fa")
    assert {name: letters.tobytes() for name, letters in found.items()} == {
        "one": b"ACgtNN",
        "two": b"A",
    }


def test_match_is_reported_over_all_and_over_matched_positives(genome, positives):
    genome["c1"][100:130] = ord("G")  # a composition that no other place has
    genome["c1"][1000:1030] = ord("c")
    found = negatives(positives, genome)
    assert 0 < found.unmatched < len(positives)
    everything = [share(genome, one, "GCgc") for one in positives]
    missing = [share(genome, one, "GCgc") for one in found.without_match]
    matched = (sum(everything) - sum(missing)) / (len(everything) - len(missing))
    assert found.gc_of_all == pytest.approx(np.mean(everything))
    assert found.gc[0] == pytest.approx(matched)
    assert len(found.without_match) == found.unmatched
    assert found.repeats_of_all == pytest.approx(
        np.mean([share(genome, one, "acgt") for one in positives])
    )


def test_negatives_are_named_after_their_positives(genome, positives):
    items = [one._replace(name=f"peak{i}") for i, one in enumerate(positives)]
    found = negatives(Regions(items, "p.bed"), genome, gc=0.2, repeats=0.2, draws=2)
    lengths = {one.name: one.stop - one.start for one in items}
    for one in found.regions:
        source, _, draw = one.name.partition("_negative_")
        assert lengths[source] == one.stop - one.start
        assert draw in ("1", "2")


def test_draws_come_from_chromosomes_with_positives_or_from_given_ones(genome, positives):
    wide = {"gc": 0.3, "repeats": 1.0}
    assert set(negatives(positives, genome, **wide).regions.chromosomes) == {"c1"}
    found = negatives(positives, genome, chromosomes=["c2"], **wide)
    assert set(found.regions.chromosomes) == {"c2"}
    with pytest.raises(ValueError, match="no chromosome c9; the file has c9, the genome has c1"):
        negatives(positives, genome, chromosomes=["c9"])


def test_same_chromosome_as_the_positive(genome):
    items = [Region(c, s, s + 30, "", ".") for c in ("c1", "c2") for s in range(1000, 8000, 700)]
    found = negatives(Regions(items, "p"), genome, gc=0.3, repeats=1.0, same_chromosome=True)
    assert found.unmatched == 0
    assert [one.chromosome for one in found.regions] == [one.chromosome for one in items]


def test_impossible_draws_are_refused_at_once(genome, monkeypatch):
    monkeypatch.setattr("kernelweave.genome.background._draw", None)  # nothing is drawn
    long = Regions([Region("c1", 0, 29_000, "long", ".")], "p.bed")
    with pytest.raises(ValueError, match=r"no negative can match c1:0-29000 of 29000 bases"):
        negatives(long, genome)
    many = Regions([Region("c2", s, s + 40, "", ".") for s in range(0, 9000, 100)], "p.bed")
    with pytest.raises(ValueError, match=r"180 negatives take 7,200 bases, but only [\d,]+ are"):
        negatives(many, genome, draws=2)


def test_names_of_chromosomes_are_spelled_as_in_the_positives(genome, positives):
    items = [one._replace(chromosome="chrc1") for one in positives]
    with pytest.warns(UserWarning, match="by alias"):
        found = negatives(Regions(items, "p.bed"), genome, gc=0.2, repeats=0.2)
    assert set(found.regions.chromosomes) == {"chrc1"}
