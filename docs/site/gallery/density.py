import matplotlib.pyplot as plt
import numpy as np
from bochner import KernelDensity
from sklearn.datasets import make_moons

X, _ = make_moons(800, noise=0.08, random_state=0)
model = KernelDensity(gamma=22.0, map_components=16384, random_state=0).fit(X)

x, y = np.meshgrid(np.linspace(-1.6, 2.6, 120), np.linspace(-1.1, 1.6, 90))
density = np.exp(model.score_samples(np.column_stack([x.ravel(), y.ravel()])))
along, between = model.score_samples([[0.0, 1.0], [0.5, 0.25]])
print(f"log density along a crescent {along:.1f}, between them {between:.1f}")
plt.contourf(x, y, density.reshape(x.shape), levels=12, cmap="Blues")
plt.scatter(*X.T, s=3, color="0.3")
plt.show()
