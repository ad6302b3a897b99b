import { openAiProfile, type TargetProfile } from '#relay/chat/fit/profile.ts'
import { plainRoot } from '#relay/chat/fit/schema-root.ts'
import { completeParameters } from './complete-parameters.ts'
import { toStrictSchema } from './schema.ts'

/**
 * The original's rules, by which its followers are built. User: `safety_identifier` and `user` have at most 64 characters,
 * https://platform.openai.com/docs/api-reference/responses/create. Parameters: "schema must have type 'object' and not have
 * 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level."
 */
export const compatibleProfile: TargetProfile = {
  ...openAiProfile,
  takesBuiltIns: true,
  // "Invalid 'tools': array too long. Expected an array with maximum length 128"
  mostTools: 128,
  // https://platform.openai.com/docs/guides/structured-outputs, "JSON mode"; DeepSeek and DashScope want the same.
  namesJson: true,
  user: { longest: 64, pattern: /^./s },
  schemas: {
    strict: (schema) => toStrictSchema(completeParameters(schema)),
    parameters: (schema) => {
      const plain = plainRoot(schema)
      return { ...plain, schema: completeParameters(plain.schema) }
    },
    format: (schema) => {
      const strict = toStrictSchema(schema)
      return strict && { schema: strict, lost: false }
    },
  },
}
