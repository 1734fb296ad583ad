import matplotlib.pyplot as plt
import numpy as np
from bochner import KernelRidgeRegressor

random = np.random.RandomState(0)
X = random.uniform(0, 10, size=(200, 1))
y = np.sin(X[:, 0]) + 0.3 * random.normal(size=200)

model = KernelRidgeRegressor(random_state=0).fit(X, y)
print(f"R2 against the sine: {model.score(X, np.sin(X[:, 0])):.3f}")

grid = np.linspace(0, 10, 400)[:, None]
plt.scatter(X, y, s=8, color="0.6")
plt.plot(grid, model.predict(grid))
plt.show()
