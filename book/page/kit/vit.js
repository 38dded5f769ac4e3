// @ts-check
// A companion.models.ViT, pre-norm, of grey images. `data` has its `weights`, `image_size`, `patch_size`,
// `num_layers` and the options of a `block`.

import { encoderBlocks, layerNorm, linear } from "./networks.js";
import { add } from "./numerics.js";

/** The patches of an image, row by row, each a row of its pixels. */
export function cutIntoPatches({ image_size: size, patch_size: side }, pixels) {
  const across = size / side;
  return Array.from({ length: across * across }, (_, patch) => {
    const top = Math.floor(patch / across) * side,
      left = (patch % across) * side;
    return Array.from({ length: side * side }, (_, i) => {
      const row = top + Math.floor(i / side),
        column = left + (i % side);
      return pixels[row * size + column];
    });
  });
}

/** What encoderBlock returns of each of the `blocks`, and the `logits`. */
export function classifyImage(data, pixels) {
  const { weights, num_layers: numLayers, block } = data;
  const patches = linear(weights, "patch_embedding.proj", cutIntoPatches(data, pixels));
  const x = add([weights.cls_token[0], ...patches], weights["positions.weight"]);
  const blocks = encoderBlocks(weights, "blocks", numLayers, x, block);
  const [cls] = blocks.at(-1).output;
  const [logits] = linear(weights, "head", layerNorm(weights, "final_norm", [cls], block.eps));
  return { blocks, logits };
}
