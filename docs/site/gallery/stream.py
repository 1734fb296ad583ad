import matplotlib.pyplot as plt
import numpy as np
from bochner.river import KernelClassifier
from sklearn.datasets import load_digits

X, y = load_digits(return_X_y=True)
order = np.random.RandomState(0).permutation(len(y))
X, y = X[order], y[order]
X[900:] = X[900:, ::-1]  # upside down
for half_life in [400.0, np.inf]:
    model = KernelClassifier(300, half_life=half_life, penalty=0.1)
    wrong = []
    for pixels, digit in zip(X, y):
        row = dict(enumerate(pixels))
        wrong.append(model.predict_one(row) != digit)
        model.learn_one(row, digit)
    print(f"half-life {half_life}: {np.mean(wrong[-300:]):.3f} of the last 300 wrong")
    plt.plot(np.convolve(wrong, np.ones(100) / 100, "valid"), label=f"half-life {half_life}")
plt.xlabel("rows")
plt.ylabel("wrong of the last hundred")
plt.legend()
plt.show()
