"""Every function of MPI is in the table of calls, or is known to move nothing and to wait for none.

What a library's next version adds fails here, until somebody has decided where it belongs.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nhalf.mpi import Library
from tests.nhalf.measure.traced.programs import FOUND

TABLE = Path(__file__).parents[4] / "native/calls"
HEADERS = ("mpi.h", "mpi_proto.h", "mpi_abi.h")
FUNCTION = re.compile(r"\bMPI_([A-Z][a-z]\w*)\s*\(")
HANDLES = "Comm|Datatype|Errhandler|File|Fint|Group|Info|Message|Op|Request|Session|Status|Win|Aint"
LEFT_OUT = {
    "begin and end of the library and its sessions": (
        r"Initiali\w+|Finalized|Init|Init_thread|Finalize|Abort|Session_(init|finalize)"
        r"|Query_thread|Is_thread_main|Pcontrol"
    ),
    "what is there already, on this rank": (
        r"Abi_\w+|Get_(version|library_version|processor_name|hw_resource_info)|Wtime|Wtick"
        r"|Get_(count|elements)\w*|Get_address|Address|Aint_\w+|Test_cancelled|Status_\w+"
        r"|Comm_(rank|size|group|remote_group|remote_size|compare|test_inter|get_\w+)"
        r"|Win_(get|shared_query)\w*|Session_get_\w+|Topo_test|Dims_create"
        r"|Cart_(coords|get|map|rank|shift)|Cartdim_get|Graph(dims)?_(get|map|neighbo\w+)"
        r"|Dist_graph_neighbo\w+"
    ),
    "objects of this rank": (
        r"(Type|Group|Info|Op|Errhandler|Attr|Keyval)_\w+|\w+_(keyval|attr|errhandler|toint)"
        r"|\w+_(fromint|f2c|c2f|f082c|c2f08|f2f08|f082f)|(Win|Session)_set_\w+|Comm_set_info"
        rf"|(Add|Remove)_error_\w+|Error_\w+|Errhandler|{HANDLES}|Comm_create_from_group"
    ),
    "memory of this rank": (
        r"(Alloc|Free)_mem|Pack\w*|Unpack\w*|Reduce_local|Win_(attach|detach)"
        r"|(Buffer|(Comm|Session))_(attach|detach|flush|iflush)(_buffer)?"
    ),
    "files": r"File_\w+|Register_datarep",
    "other worlds": (
        r"Comm_(accept|connect|join|spawn|spawn_multiple)|(Open|Close)_port"
        r"|(Publish|Unpublish|Lookup)_name|Intercomm_create_from_groups"
    ),
    "requests of the program's own, and parts that are ready": (
        r"Grequest_(start|complete)|Pready(_list|_range)?"
    ),
}


def functions(library: Library) -> set[str]:
    """Those that a library's headers name, without the form for large counts."""
    texts = [
        re.sub(r"#\s*define.*", "", path.read_text(errors="replace"))
        for path in (library.prefix / "include" / name for name in HEADERS)
        if path.is_file()
    ]
    return {name.removesuffix("_c") for text in texts for name in FUNCTION.findall(text)}


def counted() -> set[str]:
    """Those of the table; a row of an operation has three forms."""
    text = "".join(path.read_text() for path in TABLE.glob("*.inc"))
    operations = re.findall(r"NHALF_OPERATION\((\w+),", text)
    forms = {form for name in operations for form in (name, f"I{name.lower()}", f"{name}_init")}
    return forms.union(re.findall(r"NHALF_CALL\((\w+),", text))


@pytest.mark.parametrize("library", FOUND, ids=lambda one: one.name)
def test_every_function_is_counted_or_left_out_for_a_reason(library: Library) -> None:
    names = functions(library)
    if not names:
        pytest.skip(f"{library.name} has no header here")
    assert {"Send", "Allreduce", "Waitall"} <= names
    left_out = re.compile("|".join(LEFT_OUT.values()))
    unknown = {name for name in names - counted() if not left_out.fullmatch(name)}
    assert unknown == set()


def test_nothing_is_both_counted_and_left_out() -> None:
    left_out = re.compile("|".join(LEFT_OUT.values()))
    assert {name for name in counted() if left_out.fullmatch(name)} == set()
