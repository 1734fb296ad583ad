import matplotlib.pyplot as plt
import numpy as np
from bochner import GaussianProcessRegressor

random = np.random.RandomState(1)
X = np.concatenate([random.uniform(0, 4, 60), random.uniform(7, 10, 40)])[:, None]
y = np.sin(X[:, 0]) + 0.1 * random.normal(size=100)

model = GaussianProcessRegressor(random_state=0).fit(X, y)
grid = np.linspace(-1, 11, 300)[:, None]
mean, deviation = model.predict(grid, return_std=True)
print(f"deviation among rows {deviation[75]:.2f}, in the gap {deviation[162]:.2f}")

plt.fill_between(grid[:, 0], mean - 2 * deviation, mean + 2 * deviation, alpha=0.3)
plt.plot(grid, mean)
plt.scatter(X, y, s=8, color="0.4")
plt.show()
