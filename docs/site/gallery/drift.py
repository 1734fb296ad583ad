import matplotlib.pyplot as plt
import numpy as np
from bochner import mmd_test

random = np.random.RandomState(0)
shifts, pvalues = np.linspace(0, 0.3, 7), []
before = random.normal(size=(1000, 3))
for shift in shifts:
    after = random.normal(shift, size=(1000, 3))
    pvalues.append(mmd_test(before, after, random_state=0).pvalue)
print(f"p {pvalues[0]:.2f} without a shift, {pvalues[-1]:.1e} with {shifts[-1]}")

plt.semilogy(shifts, pvalues, "o-")
plt.axhline(0.05, color="0.5", linestyle="--")
plt.xlabel("shift")
plt.ylabel("p-value")
plt.show()
