import time

import bochner
import matplotlib.pyplot as plt
import numpy as np
from bochner import KernelRidgeRegressor

counts, seconds = [25_000, 50_000, 100_000, 200_000], []
rows = np.lib.format.open_memmap("rows.npy", "w+", np.float32, (counts[-1], 20))
rows[:] = np.random.RandomState(0).normal(size=rows.shape)
for count in counts:
    np.save("part.npy", rows[:count])
    np.save("y.npy", np.sin(rows[:count, 0]) + rows[:count, 1])
    start = time.perf_counter()
    table = bochner.scan("part.npy", targets="y.npy")
    model = KernelRidgeRegressor(n_components=300, gamma="scale", penalty=1e-5,
                                 random_state=0, memory=8 << 20)
    model.fit(table)
    seconds.append(time.perf_counter() - start)
print(f"the largest file has {rows.nbytes >> 20} MB, the fit was given 8")

plt.plot(counts, seconds, "o-")
plt.ylim(0)
plt.xlabel("rows")
plt.ylabel("seconds")
plt.show()
