// What an epsilon does on average, from the precomputed curve.

// The value of `key` at epsilon, between the two nearest points; null outside of the curve.
function between(points, key, epsilon) {
  const last = points.length - 1;
  if (!points.length || epsilon < points[0].epsilon || epsilon > points[last].epsilon) return null;
  const right = Math.max(
    1,
    points.findIndex((point) => point.epsilon >= epsilon),
  );
  const [a, b] = [points[right - 1], points[right]];
  const t = (epsilon - a.epsilon) / (b.epsilon - a.epsilon);
  return a[key] + t * (b[key] - a[key]);
}

export function makeEffects(curve) {
  const kind = (isCalibrated) => (isCalibrated ? "calibrated" : "plain");
  return {
    original: curve.accuracy.original, // accuracy without noise
    blind: curve.blind, // success of a guess without any output

    at(isCalibrated, epsilon) {
      const points = curve[kind(isCalibrated)];
      return {
        self: between(points, "self", epsilon),
        guess: between(points, "guess", epsilon),
        accuracy: between(curve.accuracy[kind(isCalibrated)], "accuracy", epsilon),
      };
    },

    // The data of the picture: two lines over all epsilons at which one of them was computed.
    picture(isCalibrated, chosen, width) {
      const points = curve[kind(isCalibrated)];
      const measured = curve.accuracy[kind(isCalibrated)];
      const epsilons = [...new Set([...points, ...measured].map((point) => point.epsilon))];
      epsilons.sort((a, b) => a - b);
      const line = (from, key) => epsilons.map((epsilon) => between(from, key, epsilon) ?? NaN);
      return {
        title: "Success of the best guess and accuracy of a classifier against epsilon",
        width,
        epsilons,
        series: [
          { name: "best guess is right", values: line(points, "guess") },
          { name: "classifier is right", values: line(measured, "accuracy") },
        ],
        chosen,
      };
    },
  };
}
