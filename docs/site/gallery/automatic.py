import matplotlib.pyplot as plt
from bochner import AutoClassifier
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

X, y = load_digits(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, random_state=0)
model = AutoClassifier(random_state=0).fit(X, y)
print(f"right: {model.score(X_test, y_test):.3f}")

labels = model.predict(X_test[:16])
for image, label, axes in zip(X_test, labels, plt.subplots(2, 8)[1].flat):
    axes.imshow(image.reshape(8, 8), cmap="gray_r")
    axes.set_title(label)
    axes.axis("off")
plt.show()
