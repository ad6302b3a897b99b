import type { TargetProfile } from '#relay/chat/fit/profile.ts'
import { plainRoot } from '#relay/chat/fit/schema-root.ts'
import { exceedsGrammar } from './schema-size.ts'
import { toClaudeSchema } from './schema.ts'

/**
 * Ids: "String should match pattern '^[a-zA-Z0-9_-]+$'". User: at most 256 characters,
 * https://platform.claude.com/docs/en/api/messages, `metadata.user_id`. Schemas: "input_schema does not support oneOf, allOf,
 * or anyOf at the top level", and what `schema.ts` says of those that the model is held to.
 */
export const claudeProfile: TargetProfile = {
  // "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'"
  toolName: { longest: 128, pattern: /^[a-zA-Z0-9_-]+$/ },
  callId: { longest: 64, pattern: /^[a-zA-Z0-9_-]+$/ },
  user: { longest: 256, pattern: /^./s },
  schemas: {
    strict: (schema) => {
      const root = plainRoot(schema)
      const fitted = root.lost ? undefined : toClaudeSchema(root.schema)
      return fitted && !fitted.lost ? fitted.schema : undefined
    },
    parameters: plainRoot,
    format: toClaudeSchema,
    alwaysKeepsFormat: true,
    exceeds: exceedsGrammar,
  },
}

/** The clouds kept the older limit: "tools.43.custom.name: String should have at most 64 characters" (anthropics/claude-code#5132). */
export const cloudClaudeProfile: TargetProfile = {
  ...claudeProfile,
  toolName: { longest: 64, pattern: /^[a-zA-Z0-9_-]+$/ },
}
