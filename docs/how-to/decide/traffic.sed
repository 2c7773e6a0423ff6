# An example: the memory traffic of a task of each code, by `likwid-perfctr -g MEM` of its job / 16.
/^  gromacs:/,/demand:/ s|demand: .*|demand: 300MB/s  # likwid-perfctr|
/^  lammps:/,/demand:/ s|demand: .*|demand: 900MB/s  # likwid-perfctr|
/^  namd:/,/demand:/ s|demand: .*|demand: 400MB/s  # likwid-perfctr|
/^  openfoam:/,/demand:/ s|demand: .*|demand: 9GB/s  # likwid-perfctr|
/^  wrf:/,/demand:/ s|demand: .*|demand: 8GB/s  # likwid-perfctr|
/^  nwchem:/,/demand:/ s|demand: .*|demand: 2GB/s  # likwid-perfctr|
/^  qe:/,/demand:/ s|demand: .*|demand: 6GB/s  # likwid-perfctr|
/^  roms:/,/demand:/ s|demand: .*|demand: 10GB/s  # likwid-perfctr|
/^  blast:/,/demand:/ s|demand: .*|demand: 1500MB/s  # likwid-perfctr|
/^  raxml:/,/demand:/ s|demand: .*|demand: 200MB/s  # likwid-perfctr|
/^  mcnp:/,/demand:/ s|demand: .*|demand: 1800MB/s  # likwid-perfctr|
# What was measured is not uncertain any more.
/^  apps.*workload.demand:/d
