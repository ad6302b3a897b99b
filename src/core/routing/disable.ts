import { channelStatus } from '../statuses.ts'

export type UpstreamFault = {
  status: number
  type: string
  code: string | number | null
  message: string
  local: boolean
  channelType: number
}

export type DisableRules = {
  AutomaticDisableChannelEnabled: boolean
  /** One keyword a line. */
  AutomaticDisableKeywords: string
  /** The channel's own switch. */
  autoBan: boolean
  /** The caller's request as text, asked for only where the refusal may be about something in it. */
  requestText: () => string
}

/** This type of channel answers 403 only for its credential. */
const typeWithTelling403 = 24
const disablingCodes = ['invalid_api_key', 'account_deactivated', 'billing_not_active']
const disablingTypes = [
  'insufficient_quota',
  'insufficient_user_quota',
  'authentication_error',
  'permission_error',
  'forbidden',
]

/**
 * Google's refusals of a file or a cached prompt that a call names and the key's account does not have: "You do not have permission to
 * access the File abc or it may not exist." (googleapis/python-genai#1218), "CachedContent not found (or permission denied)".
 */
const namesWhatIsNotThere = /permission to access the \w+ \S+ or it may not exist|CachedContent not found/i

/** All that Google says of a video or file that a call names by its address and that the key's account may not see: one that is private, for instance. */
const saysNothingOfTheKey = /^The caller does not have permission\.?$/i
/** How Gemini's callers name what Google is to read itself; "/" may be escaped in JSON. */
const namesWhatGoogleReads = /file_?uri|youtube\.com|youtu\.be|gs:\\?\/|cached_?content/i

/** Google's refusal of something that the call names, which another key's account may not see either. */
const refusesWhatIsNamed = ({ message }: UpstreamFault, { requestText }: DisableRules): boolean =>
  namesWhatIsNotThere.test(message) ||
  (saysNothingOfTheKey.test(message.trim()) && namesWhatGoogleReads.test(requestText()))

/** Whether a failure means that the key it happened with is of no more use. */
export function shouldDisable(fault: UpstreamFault, rules: DisableRules): boolean {
  if (!rules.AutomaticDisableChannelEnabled || !rules.autoBan || fault.local) return false
  if (fault.status === 401) return true
  if (refusesWhatIsNamed(fault, rules)) return false
  return (
    (fault.status === 403 && fault.channelType === typeWithTelling403) ||
    disablingCodes.includes(String(fault.code)) ||
    disablingTypes.includes(fault.type) ||
    namesKeyword(fault.message, rules)
  )
}

/** A keyword the caller wrote may only have been quoted back, so it proves nothing. */
function namesKeyword(message: string, rules: DisableRules): boolean {
  const text = message.toLowerCase()
  const found = rules.AutomaticDisableKeywords.split('\n')
    .map((line) => line.trim().toLowerCase())
    .filter((keyword) => keyword !== '' && text.includes(keyword))
  if (found.length === 0) return false
  const asked = rules.requestText().toLowerCase()
  return found.some((keyword) => !asked.includes(keyword))
}

/** A passed test brings back what was disabled automatically, never what a person switched off. */
export const shouldEnable = (channel: {
  AutomaticEnableChannelEnabled: boolean
  status: number
  testPassed: boolean
}): boolean =>
  channel.AutomaticEnableChannelEnabled && channel.testPassed && channel.status === channelStatus.autoDisabled
