import matplotlib.pyplot as plt
import numpy as np
from bochner import KernelRidgeRegressor

random = np.random.RandomState(2)
X = random.uniform(0, 6, size=(1500, 1))
y = X[:, 0] * np.sin(X[:, 0]) + 0.4 * random.normal(size=1500)
old, kept, new = slice(0, 900), slice(900, 1200), slice(1200, 1500)

model = KernelRidgeRegressor(random_state=0).fit(X[old], y[old])
model.calibrate_on(X[kept], y[kept])
middle, lower, upper = model.predict_interval(X[new], 0.9)
print(f"within: {np.mean((lower <= y[new]) & (y[new] <= upper)):.2f} of new rows")

order = np.argsort(X[new, 0])
plt.fill_between(X[new, 0][order], lower[order], upper[order], alpha=0.3)
plt.scatter(X[new], y[new], s=6, color="0.4")
plt.show()
