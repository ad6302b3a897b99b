import { googleClient, googleFacts } from './clients/google.ts'
import { describeLibrary } from './matrix.ts'

describeLibrary({ name: 'the @google/genai library', create: googleClient, facts: googleFacts, roundsDown: false })
