"""What the source documents of this project published, as data: times in milliseconds.

Times are those that the documents print; a document whose results are pictures has none.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Document:
    """A source document.

    Attributes:
        key: its short name in the names of cases.
        heading: above its tables.
        title: with authors and year where known.
        machine: that it measured on, as it says.
    """

    key: str
    heading: str
    title: str
    machine: str


THESIS = Document(
    "thesis",
    "The thesis",
    "基于 GPU 的 SSSP 算法优化研究 (Optimisation of SSSP algorithms on GPUs), bachelor's thesis, "
    "Huazhong University of Science and Technology, 2022",
    "Intel Xeon Platinum 8255C, NVIDIA GeForce RTX 2080",
)
TWO = Document(
    "two-algorithms",
    "Two improved algorithms",
    "两种 GPU 上改进的最短路径算法 (Two improved shortest path algorithms on GPU), "
    "Liu Xin and Wang Fei, 2014, doi:10.3969/j.issn.1001-3695.2014.05.029",
    "Intel Core i3 760, NVIDIA GeForce GTX 550Ti",
)
FLOYD = Document(
    "floyd",
    "Parallel Floyd",
    "并行 Floyd 最短路径算法 (Parallel Floyd shortest paths)",
    "a GPU that is not named",
)
DENSE = Document(
    "dense",
    "Bellman-Ford in CUDA",
    "CUDA编程实现求解单源Bellman-Ford最短路径算法 (Single-source Bellman-Ford in CUDA), 2022",
    "an NVIDIA GPU that is not named",
)
QUEUES = Document(
    "cuda",
    "CUDA shortest paths",
    "CUDA 最短路径 (CUDA shortest paths)",
    "a machine that is not named",
)
DOCUMENTS = (THESIS, TWO, QUEUES, FLOYD, DENSE)


@dataclass(frozen=True)
class Row:
    """A row of a table of a document, and how it is measured here.

    Attributes:
        document, table: where it stands.
        label: what the document calls the graph.
        graph: ours, by the name or spec that `benchmarks.cases` knows.
        published: program and its time in ms; the time is None where it is only in a picture.
        methods: algorithms of ``sssp``, or of ``apsp`` where all pairs are solved.
        pairs: whether all pairs are solved.
        note: how the graph differs from theirs, or what else was published.
    """

    document: Document
    table: str
    label: str
    graph: str
    published: tuple[tuple[str, float | None], ...]
    methods: tuple[str, ...]
    pairs: bool = False
    note: str = ""

    @property
    def name(self) -> str:
        """The name of the case."""
        return f"{self.document.key}/{self.table}/{self.label}".replace(" ", "")


ALIKE = "random"
HASHED = "other weights"


def _dijkstra(label: str, graph: str, note: str = "") -> Row:
    published: tuple[tuple[str, float | None], ...] = (("open-set to frontier Dijkstra", None),)
    note = f"{note + '; ' if note else ''}a picture: 1.75 times faster"
    methods = ("open-set-dijkstra", "frontier-dijkstra", "auto")
    return Row(THESIS, "figure 5-1", label, graph, published, methods, note=note)


def _bellman(label: str, graph: str, serial_ms: float, gpu_ms: float) -> Row:
    published = (("Bellman-Ford, CPU", serial_ms), ("Bellman-Ford, GPU", gpu_ms))
    methods = ("textbook-bellman-ford", "bellman-ford", "auto")
    return Row(THESIS, "table 5-2", label, graph, published, methods, note=ALIKE)


def _single(label: str, graph: str, note: str, *ms: float | None) -> Row:
    programs = ("heap Dijkstra, CPU", "iterative, GPU", "with locks, GPU")
    published = tuple(zip(programs, ms, strict=True))
    return Row(TWO, "table 2", label, graph, published, ("heap-dijkstra", "auto"), note=note)


def _pairs(label: str, graph: str, note: str, *seconds: float) -> Row:
    programs = ("Floyd-Warshall, CPU", "repeated SSSP, GPU", "heap APSP, GPU")
    published = tuple((p, 1000 * s) for p, s in zip(programs, seconds, strict=True))
    return Row(TWO, "table 3", label, graph, published, ("heap", "batch"), True, note)


def _floyd(count: int, seconds: float) -> Row:
    published = (("blocked Floyd-Warshall, GPU", 1000 * seconds),)
    graph = f"random:{count},{8 * count}"
    note = "random; from hours"
    return Row(FLOYD, "results", f"N = {count}", graph, published, ("floyd",), True, note)


def _dense(count: int) -> Row:
    published: tuple[tuple[str, float | None], ...] = (("Bellman-Ford, GPU", None),)
    methods = ("dense-bellman-ford", "bellman-ford", "auto")
    note = "dense; a picture"
    return Row(DENSE, "results", f"N = {count}", f"dense:{count}", published, methods, note=note)


ROWS = (
    _dijkstra("NY", "NY"),
    _dijkstra("FLA", "FLA", HASHED),
    _bellman("Simple Graph 00", "random:10,34", 0.028, 0.31),
    _bellman("Simple Graph 01", "random:1000,18555", 270.345, 8.227),
    _bellman("Simple Graph 02", "random:5000,122984", 8799.94, 45.855),
    _bellman("Simple Graph 03", "random:10000,489476", 68532.7, 133.717),
    _bellman("Simple Graph 04", "random:5000,1242105", 84488.6, 238.185),
    _single("Graph4096", "random:4096,24576", ALIKE, 6.28, 0.98, 1.32),
    _single("Graph65536", "random:65536,393216", ALIKE, 21.53, 4.15, 3.76),
    _single("New York", "NY", "", None, 102, 118),
    _single("Florida", "FLA", HASHED, 1086, 1651, 1593),
    _pairs("Graph4096", "random:4096,24576", ALIKE, 545, 12.44, 9.6),
    _pairs("Graph65536", "random:65536,393216", ALIKE, 13104, 743, 252),
    _pairs("New York", "NY", "", 23518, 1569, 511),
    _pairs("Florida", "FLA", HASHED, 65950, 2652, 1403),
    Row(
        QUEUES,
        "section 4.3",
        "New York",
        "NY",
        (("queue Bellman-Ford", None), ("with SLF", None), ("with SLF and LLL", None)),
        ("queue-bellman-ford", "queue-bellman-ford-slf", "queue-bellman-ford-slf-lll"),
        note="no graph is named; SLF is 15 to 20 % faster, SLF and LLL 50 %",
    ),
    _floyd(80, 0.57),
    _floyd(1024, 0.59),
    _floyd(5760, 0.76),
    _floyd(40000, 1920),
    _dense(4),
    _dense(1500),
)
"""Every row that can be measured here; those of the roads BAY, COL and NW are left out."""
