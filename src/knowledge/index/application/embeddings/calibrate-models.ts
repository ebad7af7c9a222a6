import { Injectable } from '@nestjs/common';
import { EmbedTexts } from '../../../../models/index.js';
import { CALIBRATION_TEXTS, unrelatedCosine } from '../../domain/semantic-calibration.js';
import { EmbeddingModels } from './embedding-models.js';

/** Learns which cosine unrelated texts have by each model that vectors are made of. */
@Injectable()
export class CalibrateModels {
  constructor(
    private readonly models: EmbeddingModels,
    private readonly texts: EmbedTexts,
  ) {}

  /** Asks the endpoint once a model. Where it does not answer, the model goes without until the next call. */
  async execute(signal: AbortSignal): Promise<void> {
    for (const model of await this.models.current()) {
      if (model.unrelated !== null) continue;
      const { embedded } = await this.texts.execute(model.name, CALIBRATION_TEXTS, signal);
      const vectors = embedded.flatMap(({ vector }) => (vector === null ? [] : [vector]));
      const size = model.dimensions ?? vectors[0]?.length;
      if (vectors.length < CALIBRATION_TEXTS.length || vectors.some(({ length }) => length !== size)) continue;
      const unrelated = unrelatedCosine(vectors);
      if (Number.isFinite(unrelated)) await this.models.calibrate(model.id, unrelated);
    }
  }
}
