import { openAiClient, openAiFacts } from './clients/openai.ts'
import { describeLibrary } from './matrix.ts'

describeLibrary({ name: 'the openai library', create: openAiClient, facts: openAiFacts, roundsDown: false })
