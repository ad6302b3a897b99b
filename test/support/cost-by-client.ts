type Row = { promptTokens: number; completionTokens: number; other: Record<string, unknown> }
type Figures = Record<string, number> & { claude?: true; audio?: true; ws?: true }

/** What a call cost as older consoles compute it from its row, in quota: a price per call, else tokens by their ratios. */
export function costByClient({ promptTokens, completionTokens, ...row }: Row): number {
  const other = row.other as Figures
  const { model_price: price = 0, group_ratio: group = 0, model_ratio: model = 0 } = other
  if (price !== -1) return price * 500_000 * group
  const { completion_ratio: completion = 0, cache_tokens: read = 0, cache_ratio: readRatio = 1 } = other
  if (other.ws || other.audio) {
    const {
      text_input: textIn = 0,
      text_output: textOut = 0,
      audio_input: audioIn = 0,
      audio_output: audioOut = 0,
    } = other
    const { audio_ratio: audio = 1, audio_completion_ratio: spoken = 1 } = other
    const text = textIn - read + read * readRatio + textOut * completion
    return (text + (audioIn + audioOut * spoken) * audio) * model * group
  }
  const { cache_creation_tokens: written = 0, cache_creation_ratio: writtenRatio = 1 } = other
  const input = other.claude ? promptTokens + written * writtenRatio : promptTokens - read
  return (input + read * readRatio + completionTokens * completion) * model * group
}
