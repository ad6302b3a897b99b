import { anthropicClient, anthropicFacts } from './clients/anthropic.ts'
import { describeLibrary } from './matrix.ts'

describeLibrary({
  name: 'the @anthropic-ai/sdk library',
  create: anthropicClient,
  facts: anthropicFacts,
  roundsDown: true,
})
