import matplotlib.pyplot as plt
from bochner import SpectralClustering
from sklearn.datasets import make_circles

X, ring = make_circles(1000, factor=0.45, noise=0.05, random_state=0)
labels = SpectralClustering(n_clusters=2, gamma=20.0, random_state=0).fit_predict(X)
same = (labels == ring).mean()
print(f"as the rings: {max(same, 1 - same):.3f}")

plt.scatter(*X.T, c=labels, s=6, cmap="coolwarm")
plt.axis("equal")
plt.show()
