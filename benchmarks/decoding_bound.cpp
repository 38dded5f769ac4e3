// What one core can do at most: GPT-2's step for one token, in plain loops over float32 weights.
// Arguments: d_model, layers, vocabulary, tokens given, tokens written. Prints tokens per second.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

using Vector = std::vector<float>;

static Vector random_weights(size_t n) {
    Vector w(n);
    for (float& x : w) x = 0.04f * (std::rand() / float(RAND_MAX) - 0.5f);
    return w;
}

static void linear(const Vector& w, const float* x, float* y, int in, int out) {
    for (int o = 0; o < out; o++) {
        const float* row = &w[size_t(o) * in];
        float sum = 0;
        for (int i = 0; i < in; i++) sum += row[i] * x[i];
        y[o] = sum;
    }
}

static void norm(const float* x, float* y, int d) {
    float mean = 0, variance = 0;
    for (int i = 0; i < d; i++) mean += x[i] / d;
    for (int i = 0; i < d; i++) variance += (x[i] - mean) * (x[i] - mean) / d;
    for (int i = 0; i < d; i++) y[i] = (x[i] - mean) / std::sqrt(variance + 1e-5f);
}

struct Layer { Vector qkv, out, up, down, keys, values; };

int main(int, char** argv) {
    const int d = atoi(argv[1]), layers = atoi(argv[2]), vocabulary = atoi(argv[3]);
    const int given = atoi(argv[4]), stop = given + atoi(argv[5]), heads = 4, width = d / heads;
    const Vector table = random_weights(size_t(vocabulary) * d), positions = random_weights(stop * d);
    std::vector<Layer> model(layers);
    for (Layer& l : model)
        l = {random_weights(3 * d * d), random_weights(d * d), random_weights(4 * d * d),
             random_weights(4 * d * d), random_weights(stop * d), random_weights(stop * d)};
    Vector x(d), h(d), qkv(3 * d), mixed(d), hidden(4 * d), logits(vocabulary), scores(stop);
    int token = 1, rounds = 0;
    double seconds = 0;
    while (seconds < 1) {
        const auto begin = std::chrono::steady_clock::now();
        for (int t = given; t < stop; t++) {
            for (int i = 0; i < d; i++) x[i] = table[token * d + i] + positions[t * d + i];
            for (Layer& l : model) {
                norm(x.data(), h.data(), d);
                linear(l.qkv, h.data(), qkv.data(), d, 3 * d);
                for (int i = 0; i < d; i++) l.keys[t * d + i] = qkv[d + i];
                for (int i = 0; i < d; i++) l.values[t * d + i] = qkv[2 * d + i];
                for (int head = 0; head < heads; head++) {
                    const int from = head * width;
                    float total = 0;
                    for (int s = 0; s <= t; s++) {
                        float dot = 0;
                        for (int i = from; i < from + width; i++) dot += qkv[i] * l.keys[s * d + i];
                        total += scores[s] = std::exp(dot / std::sqrt(float(width)));
                    }
                    for (int i = from; i < from + width; i++) mixed[i] = 0;
                    for (int s = 0; s <= t; s++)
                        for (int i = from; i < from + width; i++)
                            mixed[i] += scores[s] / total * l.values[s * d + i];
                }
                linear(l.out, mixed.data(), h.data(), d, d);
                for (int i = 0; i < d; i++) x[i] += h[i];
                norm(x.data(), h.data(), d);
                linear(l.up, h.data(), hidden.data(), d, 4 * d);
                for (float& v : hidden)
                    v = 0.5f * v * (1 + std::tanh(0.7978845608f * (v + 0.044715f * v * v * v)));
                linear(l.down, hidden.data(), h.data(), 4 * d, d);
                for (int i = 0; i < d; i++) x[i] += h[i];
            }
            norm(x.data(), h.data(), d);
            linear(table, h.data(), logits.data(), d, vocabulary);
            token = 0;
            for (int i = 1; i < vocabulary; i++) if (logits[i] > logits[token]) token = i;
        }
        seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        rounds++;
    }
    std::printf("%.0f\n", rounds * (stop - given) / seconds);
}
