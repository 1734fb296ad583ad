import matplotlib.pyplot as plt
from bochner import KernelRidgeClassifier
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
model = KernelRidgeClassifier(n_components=500, gamma="scale", penalty=1e-4, random_state=0)
rows, right = [], []
for first in range(0, 1400, 100):
    part = slice(first, first + 100)
    model.partial_fit(X[part], y[part], classes=range(10))
    rows.append(first + 100)
    right.append(model.score(X[1400:], y[1400:]))
print(f"right after {rows[0]} rows {right[0]:.3f}, after {rows[-1]} {right[-1]:.3f}")

plt.plot(rows, right, "o-")
plt.xlabel("rows")
plt.ylabel("right")
plt.show()
