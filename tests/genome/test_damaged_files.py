"""Damaged compressed files of genomics are a ValueError that names the file."""

import gzip

import pytest

from kernelweave.genome import read_bed, read_vcf

BED = b"chr1\t0\t4\n" * 50
VCF = b"#CHROM\tPOS\tID\tREF\tALT\n" + b"chr1\t201\trs1\tG\tA\n" * 50


@pytest.mark.parametrize(("read", "content"), [(read_bed, BED), (read_vcf, VCF)])
@pytest.mark.parametrize("damage", ["cut", "flipped"])
def test_damaged_gzip_is_a_value_error(read, content, damage, tmp_path):
    path = tmp_path / "file.gz"
    packed = bytearray(gzip.compress(content))
    if damage == "cut":
        del packed[-10:]
    else:
        packed[-6] ^= 1
    path.write_bytes(packed)
    with pytest.raises(ValueError, match=r"file\.gz: the compressed file is truncated or damaged"):
        read(path)
