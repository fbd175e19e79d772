"""Pi, each process a share of the sum."""
from mpi4py import MPI

N = 1_000_000
world = MPI.COMM_WORLD
mine = sum(4 / (1 + ((i + 0.5) / N) ** 2) for i in range(world.rank, N, world.size)) / N
pi = world.reduce(mine, op=MPI.SUM)
hosts = world.gather(MPI.Get_processor_name())
if world.rank == 0:
    print(f"pi {pi:.9f} by {world.size} processes on {' '.join(sorted(hosts))}")
