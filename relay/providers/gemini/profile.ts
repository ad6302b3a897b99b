import type { TargetProfile } from '#relay/chat/fit/profile.ts'

/**
 * "Invalid function name. Must start with a letter or an underscore. Must be alphameric, underscores, dots, colons, or dashes,
 * with a maximum length of 64": the vendor's answer to others, and https://ai.google.dev/api/caching#FunctionDeclaration.
 */
export const geminiProfile: TargetProfile = {
  toolName: { longest: 64, pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]*$/ },
}
