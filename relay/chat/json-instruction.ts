/** The instruction for a model that is to answer with JSON and is not held to it, or only where it was asked to in words. */
export const jsonInstruction = 'Answer with one valid JSON object and nothing else.'
