"""The features that `features.py` compares."""

import random
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import lance
import pyarrow as pa
from lance.fragment import write_fragments

from .rows import KEY, first_schema, random_table
from .stderr import silenced_stderr
from .version import Version

ROWS = 60
PER_FILE = 25


@dataclass(frozen=True)
class Case:
    """A version, and how lancet is told to read it."""

    path: Path
    flags: tuple[str, ...]
    version: Version


Feature = Callable[[Path, random.Random], Iterator[Case]]


def _table(r: random.Random, first: int, rows: int = ROWS, storage: str = "2.1") -> pa.Table:
    return random_table(first_schema(storage), list(range(first, first + rows)), r)


def _write(path: Path, r: random.Random, first: int = 0, **options: object) -> lance.LanceDataset:
    options = {"max_rows_per_file": PER_FILE, "data_storage_version": "2.1", **options}
    storage = str(options["data_storage_version"])
    return lance.write_dataset(_table(r, first, storage=storage), path, **options)


def _newest(path: Path, *flags: str) -> Case:
    """The newest version, which pylance and lancet find alike."""
    return Case(path, flags, Version(lance.dataset(path)))


def _all(path: Path) -> list[Case]:
    """Every version, tag and branch."""
    cases = [_newest(path)]
    for branch in [None, *lance.dataset(path).branches.list()]:
        flags = ("--branch", branch) if branch else ()
        for each in lance.dataset(path).checkout_version((branch, None)).versions():
            number = each["version"]
            version = Version(lance.dataset(path).checkout_version((branch, number)))
            cases.append(Case(path, (*flags, "--version", str(number)), version))
    for tag in lance.dataset(path).tags.list():
        version = Version(lance.dataset(path).checkout_version(tag))
        cases.append(Case(path, ("--tag", tag), version))
    return cases


def _change(dataset: lance.LanceDataset, r: random.Random, first: int) -> None:
    """New rows, deleted rows, new values and a new column, on whatever branch the dataset is."""
    rows = random_table(dataset.schema, list(range(first, first + 20)), r)
    dataset = lance.write_dataset(rows, dataset, mode="append")
    dataset.delete(f"{KEY} % {r.randrange(3, 8)} = 1")
    dataset.update({"s": "'updated'"}, where=f"{KEY} % {r.randrange(4, 9)} = 0")
    dataset.add_columns({f"c{first}": f"{KEY} * 3"})


def _branched(path: Path, r: random.Random, **options: object) -> None:
    """A dataset with a branch and branches of it, a tag on each, and changes on all of them."""
    main = _write(path, r, **options)
    main.delete(f"{KEY} % 10 = 3")
    one = main.create_branch("one", 2)
    _change(one, r, 1000)
    _change(lance.dataset(path), r, 2000)
    two = one.create_branch("deep/two", ("one", None))
    _change(two, r, 3000)
    three = two.create_branch("deep/three", ("deep/two", None))
    three.delete(f"{KEY} % 10 = 4")
    lance.dataset(path).checkout_version(("one", 2)).create_branch("early", ("one", 2))
    dataset = lance.dataset(path)
    for name in ("one", "deep/two", "deep/three"):
        dataset.tags.create(f"on-{name.replace('/', '-')}", (name, None))


def branches(folder: Path, r: random.Random) -> Iterator[Case]:
    """Branches of branches, and tags on them."""
    for stable in (False, True):
        path = folder / f"branches-{stable}"
        _branched(path, r, enable_stable_row_ids=stable)
        yield from _all(path)


def moved_branches(folder: Path, r: random.Random) -> Iterator[Case]:
    """The same in another folder; at the recorded path is nothing, or else another dataset."""
    path, moved = folder / "here", folder / "there"
    _branched(path, r)
    cases = [replace(case, path=moved) for case in _all(path)]
    path.rename(moved)
    yield from cases
    # The same names of files, of other content.
    _write(path, r, 7000)
    for file in (moved / "data").iterdir():
        shutil.copy(next((path / "data").iterdir()), path / "data" / file.name)
    yield from cases


def clones(folder: Path, r: random.Random) -> Iterator[Case]:
    """Shallow clones: of a tag, of a clone, of a branch; changed, branched and moved."""
    for stable in (False, True):
        source = folder / f"source-{stable}"
        _branched(source, r, enable_stable_row_ids=stable)
        dataset = lance.dataset(source)
        dataset.tags.create("t", 2)
        clone, second, of_branch, of_tag = (folder / f"{name}-{stable}" for name in "1234")
        dataset.shallow_clone(clone, "t")
        _change(lance.dataset(clone), r, 4000)
        lance.dataset(clone).shallow_clone(second, lance.dataset(clone).version)
        _change(lance.dataset(second), r, 5000)
        # Opened by a URI, it is recorded as one.
        by_uri = lance.dataset(source.as_uri()).checkout_version(("deep/two", None))
        by_uri.shallow_clone(of_branch, ("deep/two", None))
        _change(lance.dataset(of_branch), r, 6000)
        dataset.shallow_clone(of_tag, "on-one")
        lance.dataset(of_tag).delete(f"{KEY} % 10 = 6")
        # A branch of a clone takes its first files from the clone and from the clone's source.
        branch = lance.dataset(second).create_branch("b", lance.dataset(second).version)
        _change(branch, r, 7000)
        branch.create_branch("b2", ("b", None)).delete(f"{KEY} % 10 = 5")
        cases = [case for each in (clone, second, of_branch, of_tag) for case in _all(each)]
        yield from cases
        # The last clone in the chain may move: what it needs lies at recorded paths.
        moved = folder / f"moved-{stable}"
        second.rename(moved)
        yield from (replace(case, path=moved) for case in cases if case.path == second)


def detached(folder: Path, r: random.Random) -> Iterator[Case]:
    """Detached commits on a version that was not the last."""
    for stable in (False, True):
        path = folder / f"detached-{stable}"
        _write(path, r, enable_stable_row_ids=stable)
        lance.dataset(path).delete(f"{KEY} % 7 = 2")
        fragments = write_fragments(_table(r, 1000, 30), path, data_storage_version="2.1")
        operation = lance.LanceOperation.Append(fragments)
        alone = lance.LanceDataset.commit(path, operation, read_version=1, detached=True)
        lance.dataset(path).delete(f"{KEY} % 7 = 3")
        version = Version(lance.dataset(path).checkout_version(alone.version))
        yield Case(path, ("--version", str(alone.version)), version)
        branch = lance.dataset(path).create_branch("b", 2)
        operation = lance.LanceOperation.Project(branch.lance_schema)
        alone = lance.LanceDataset.commit(branch, operation, read_version=2, detached=True)
        number = alone.version
        version = Version(lance.dataset(path).checkout_version(("b", number)))
        yield Case(path, ("--branch", "b", "--version", str(number)), version)
        yield from _all(path)


def manifest_names(folder: Path, r: random.Random) -> Iterator[Case]:
    """V1 names, and V2 names that were V1 names; of a branch too."""
    path = folder / "named"
    _branched(path, r, enable_v2_manifest_paths=False)
    yield from _all(path)
    lance.dataset(path).migrate_manifest_paths_v2()
    yield from _all(path)
    _change(lance.dataset(path), r, 8000)
    yield from _all(path)


def overwritten(folder: Path, r: random.Random) -> Iterator[Case]:
    """Fragment ids that begin again (Lance 9 and 10) or go on (Lance 14) with other rows."""
    for stable in (False, True):
        path = folder / f"overwritten-{stable}"
        _write(path, r, enable_stable_row_ids=stable)
        _change(lance.dataset(path), r, 1000)
        _write(path, r, 2000, mode="overwrite")
        _change(lance.dataset(path), r, 3000)
        lance.dataset(path).checkout_version(2).restore()
        _change(lance.dataset(path), r, 4000)
        yield from _all(path)


def base_paths(folder: Path, r: random.Random) -> Iterator[Case]:
    """Files under other roots, datasets or bare folders, paths or URIs; added at first or later."""
    roots = {name: folder / f"root-{name}" for name in ("bare", "dataset", "later")}
    for root in roots.values():
        root.mkdir()
    bases = [
        lance.DatasetBasePath(str(roots["bare"]), "bare", is_dataset_root=False),
        lance.DatasetBasePath(roots["dataset"].as_uri(), "dataset", is_dataset_root=True),
    ]
    path = folder / "based"
    _write(path, r, initial_bases=bases, target_bases=["bare"])
    _write(path, r, 1000, mode="append", target_bases=["dataset"])
    _write(path, r, 2000, mode="append")
    lance.dataset(path).add_bases(
        [lance.DatasetBasePath(str(roots["later"]), "later", is_dataset_root=False)]
    )
    _write(path, r, 3000, mode="append", target_bases=["later"])
    _change(lance.dataset(path), r, 4000)
    branch = lance.dataset(path).create_branch("b", lance.dataset(path).version)
    _change(branch, r, 5000)
    branch.create_branch("b2", ("b", None)).delete(f"{KEY} % 10 = 5")
    clone = folder / "clone"
    lance.dataset(path).shallow_clone(clone, lance.dataset(path).version)
    _change(lance.dataset(clone), r, 6000)
    yield from _all(clone)
    cases, moved = _all(path), folder / "moved"
    yield from cases
    path.rename(moved)
    yield from (replace(case, path=moved) for case in cases)


def data_replacement(folder: Path, r: random.Random) -> Iterator[Case]:
    """A column's file of some fragments put in the place of another, or where there was none."""
    path, other = folder / "replaced", folder / "other"
    for dataset in (_write(path, r), _write(other, r)):
        dataset.add_columns({"c": f"{KEY} * {r.randrange(2, 9)}"})
    lance.dataset(path).add_columns(pa.field("null", pa.int64()))
    lance.dataset(other).add_columns({"null": f"{KEY} + 5"})
    lance.dataset(path).delete(f"{KEY} % 7 = 2")
    for place in (1, 2):
        groups = []
        for fragment in lance.dataset(other).get_fragments()[:2]:
            file = fragment.metadata.files[place]
            shutil.copy(other / "data" / file.path, path / "data" / file.path)
            groups.append(lance.LanceOperation.DataReplacementGroup(fragment.fragment_id, file))
        version = lance.dataset(path).version
        operation = lance.LanceOperation.DataReplacement(groups)
        with silenced_stderr():  # "not stable yet"
            lance.LanceDataset.commit(path, operation, read_version=version)
    yield from _all(path)


def updated_columns(folder: Path, r: random.Random) -> Iterator[Case]:
    """Columns of some fragments written anew: their old places are tombstones."""
    for stable in (False, True):
        path = folder / f"updated-{stable}"
        _write(path, r, enable_stable_row_ids=stable)
        for names in (["s"], ["st", "v"], ["s", "n"]):
            dataset = lance.dataset(path)
            fragment = r.choice(dataset.get_fragments())
            schema = pa.schema([dataset.schema.field(name) for name in (KEY, *names)])
            keys = fragment.to_table(columns=[KEY])[KEY].to_pylist()
            values = random_table(schema, r.sample(keys, 10), r)
            updated, fields = fragment.update_columns(values, left_on=KEY, right_on=KEY)
            operation = lance.LanceOperation.Update(
                updated_fragments=[updated], fields_modified=fields
            )
            lance.LanceDataset.commit(path, operation, read_version=dataset.version)
            lance.dataset(path).delete(f"{KEY} = {keys[0]}")
        yield from _all(path)


def merged_columns(folder: Path, r: random.Random) -> Iterator[Case]:
    """Columns added fragment by fragment, and names that are used again."""
    path = folder / "merged"
    dataset = _write(path, r)
    merged, schema = [], None
    for fragment in dataset.get_fragments():
        added, schema = fragment.merge_columns({"c": f"{KEY} + {fragment.fragment_id}"})
        merged.append(added)
    operation = lance.LanceOperation.Merge(merged, schema)
    lance.LanceDataset.commit(path, operation, read_version=dataset.version)
    lance.dataset(path).drop_columns(["c"])
    lance.dataset(path).add_columns({"c": "s"})
    lance.dataset(path).add_columns(pa.field("null", pa.list_(pa.string())))
    _write(path, r, 1000, mode="append")
    yield from _all(path)


def row_versions(folder: Path, r: random.Random) -> Iterator[Case]:
    """Rows created, updated, merged, deleted, moved and restored, with ids that they keep."""
    path = folder / "versions"
    _write(path, r, enable_stable_row_ids=True)
    _lineage(path, r)
    yield from _all(path)


def spilled_lineage(folder: Path, r: random.Random) -> Iterator[Case]:
    """The same, ids and versions being stored as hidden columns."""
    path = folder / "spilled"
    dataset = _write(path, r, enable_stable_row_ids=True)
    dataset.update_config(
        {"lance.row_lineage.spill": "true", "lance.row_lineage.inline_max_bytes": "0"}
    )
    _lineage(path, r)
    fields: set[int] = set()
    for version in lance.dataset(path).versions():
        dataset = lance.dataset(path, version["version"])
        files = [file for each in dataset.get_fragments() for file in each.metadata.files]
        fields.update(field for file in files for field in file.fields)
    assert {-3, -4, -5} <= fields, "the lineage was not spilled"
    yield from _all(path)


def _lineage(path: Path, r: random.Random) -> None:
    for round_ in range(2):
        _change(lance.dataset(path), r, 1000 * (round_ + 1))
        dataset = lance.dataset(path)
        rows = random_table(dataset.schema, list(range(round_, 2200, 13)), r)
        merge = dataset.merge_insert(KEY).when_matched_update_all().when_not_matched_insert_all()
        merge.execute(rows)
        lance.dataset(path).optimize.compact_files(
            target_rows_per_fragment=100, materialize_deletions_threshold=0.0
        )
    lance.dataset(path).update({"n": "n + 1"}, where=f"{KEY} % 3 = 0")
    lance.dataset(path).checkout_version(3).restore()
    lance.dataset(path).update({"n": "n + 1"}, where=f"{KEY} % 4 = 0")


def mixed_file_versions(folder: Path, r: random.Random) -> Iterator[Case]:
    """Files of formats 2.1 and 2.2 in one table."""
    for first, then in (("2.2", "2.1"), ("2.1", "2.2")):
        path = folder / f"mixed-{first}"
        _write(path, r, data_storage_version=first)
        _write(path, r, 1000, mode="append", data_storage_version=then)
        files = [f for each in lance.dataset(path).get_fragments() for f in each.metadata.files]
        assert len({file.file_minor_version for file in files}) == 2, "one format only"
        _change(lance.dataset(path), r, 2000)
        yield from _all(path)


FEATURES: dict[Feature, int] = {
    branches: 9,
    moved_branches: 9,
    clones: 9,
    detached: 9,
    manifest_names: 9,
    overwritten: 9,
    base_paths: 9,
    data_replacement: 9,
    updated_columns: 9,
    merged_columns: 9,
    row_versions: 9,
    spilled_lineage: 14,
    mixed_file_versions: 14,
}
"""Every feature, and the first pylance that has it."""
