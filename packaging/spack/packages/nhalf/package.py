# SPDX-License-Identifier: Apache-2.0
"""nhalf for Spack, built from a checkout: `spack dev-build nhalf@develop` in it."""

from spack.package import *  # noqa: F403
from spack_repo.builtin.build_systems.python import PythonPackage


class Nhalf(PythonPackage):
    """Measures, models and predicts the communication performance of parallel computers."""

    homepage = "https://example.org/nhalf"
    license("Apache-2.0", checked_by="nhalf")

    version("develop")

    variant("simgrid", default=False, description="Simulate machines with SimGrid")

    depends_on("cxx", type="build")
    depends_on("python@3.11:", type=("build", "run"))
    depends_on("py-scikit-build-core@0.11:", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    # Probes for other libraries are compiled when they are needed, by the library's mpicxx.
    depends_on("mpi", type=("build", "run"))
    depends_on("simgrid@3.32:", type="run", when="+simgrid")

    depends_on("py-altair@6:", type="run")
    depends_on("py-click@8.2:", type="run")
    depends_on("py-jinja2@3.1:", type="run")
    depends_on("py-markupsafe@3:", type="run")
    depends_on("py-msgspec@0.20:", type="run")
    depends_on("py-numpy@2:", type="run")
    depends_on("py-polars@2:", type="run")
    depends_on("py-prometheus-client@0.22:", type="run")
    depends_on("py-pycparser@3:", type="run")
    depends_on("py-pyelftools@0.33:", type="run")
    depends_on("py-rich@14:", type="run")
    depends_on("py-scipy@1.14:", type="run")
    depends_on("py-threadpoolctl@3.5:", type="run")
    depends_on("py-tomli-w@1.2:", type="run")
    depends_on("py-vl-convert-python@1.8:", type="run")
