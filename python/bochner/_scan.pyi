from collections.abc import Iterator, Sequence
from os import PathLike

from . import _native

class Scan:
    n_features: int
    n_targets: int
    n_samples: int | None
    feature_names: list[str] | None
    def __init__(
        self,
        path: str | PathLike[str],
        target: str | Sequence[str] | None = None,
        targets: str | PathLike[str] | None = None,
        columns: str | Sequence[str] | None = None,
        width: int | None = None,
        *,
        missing: str = "error",
        categorical: str | Sequence[str] | None = None,
        numeric: str | Sequence[str] | None = None,
        most_categories: int = 64,
        weight: str | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        date_format: str | None = None,
        na: str | Sequence[str] | None = None,
        all_columns: bool = False,
        dates: str | None = None,
        by_target: str | Sequence[str] | None = None,
        words: str | Sequence[str] | None = None,
        delimiter: str | None = None,
        header: str = "auto",
        skip_rows: int = 0,
        comment: str | None = None,
        encoding: str | None = None,
        drop_rows_without_target: bool = False,
    ) -> None: ...
    def chunks(self, memory: int | None = None) -> Iterator[_native.HeldRows]: ...

def scan(
    path: str | PathLike[str],
    target: str | Sequence[str] | None = None,
    targets: str | PathLike[str] | None = None,
    columns: str | Sequence[str] | None = None,
    width: int | None = None,
    *,
    missing: str = "error",
    categorical: str | Sequence[str] | None = None,
    numeric: str | Sequence[str] | None = None,
    most_categories: int = 64,
    weight: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    date_format: str | None = None,
    na: str | Sequence[str] | None = None,
    all_columns: bool = False,
    dates: str | None = None,
    by_target: str | Sequence[str] | None = None,
    words: str | Sequence[str] | None = None,
    delimiter: str | None = None,
    header: str = "auto",
    skip_rows: int = 0,
    comment: str | None = None,
    encoding: str | None = None,
    drop_rows_without_target: bool = False,
) -> Scan: ...
