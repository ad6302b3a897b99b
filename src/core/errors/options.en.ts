import type { optionErrors } from './options.ts'

export const optionEnglish: Record<keyof typeof optionErrors, string> = {
  'option.key_required': 'The name of the setting is missing',
  'option.changed_meanwhile': '{label} was changed by somebody else meanwhile and not saved; look again, then save',
  'option.invalid': '{label} is invalid: {detail}',
  'option.not_number': '{label} must be a number',
  'option.not_integer': '{label} must be a whole number',
  'option.too_small': '{label} cannot be less than {minimum}',
  'option.not_above': '{label} must be greater than {minimum}',
  'option.too_large': '{label} cannot be greater than {maximum}',
  'option.too_long': '{label} may have at most {maximum} characters',
  'option.not_listed': '{label} must be one of {choices}',
  'option.not_json': '{label} is not a valid JSON string',
  'option.json_shape': 'The content of {label} is not as required: {detail}',
  'option.not_address': '{label} must start with http:// or https://',
  'option.link_local_address': '{label} may not point to a link-local address',
  'option.requires': 'Please fill in {required} before turning on “{label}”',
  'option.no_way_in':
    'You could not log in again yourself. Set a password or bind another account first, or leave on a way to log in that you have',
  'option.no_second_factor':
    'Your passkeys do not work at the new address. Set up an authenticator or make new recovery codes first',
  'option.requires_server_address': 'Please fill in the server address first',
  'option.currency_unsupported': 'This currency is not supported',
  'option.topup_ratio_not_json': 'The top-up group ratio is not a valid JSON string',
  'option.rebate_percentage': 'The rebate percentage must be between 0 and 100',
  'option.fallback_pricing':
    'Please check the fallback pricing: a single price excludes ratios, and ratios need both input and completion',
  'option.group_ratio_negative': 'The ratio of group {group} cannot be less than 0',
  'option.long_context_order': 'The long-context steps of model {model} must ascend by above',
  'option.chat_link_incomplete': 'Every chat link needs a name and an address',
  'option.chat_link_invalid':
    'The address of the chat link “{name}” cannot be used: it must begin with a scheme such as https://, and in a web address the token may only stand behind the #',
  'option.domain_invalid': '“{domain}” is not a valid domain, please write it like example.com',
  'option.domain_duplicate': 'The domain is already on the whitelist: {domain}',
  'option.status_codes_invalid':
    '“{entry}” is not a valid status code, please write 429, 5xx or 500-503, separated by commas',
  'option.unchanged': 'Nothing seems to have been changed',
  'option.partly_saved': 'Some settings could not be saved, please try again',
  'option.secret_key_changed': 'An encrypted setting cannot be read, please check SECRET_KEY',

  'mapping.changed_meanwhile': 'The model mapping was changed by somebody else meanwhile; look again, then save',
  'mapping.name_required': 'Please enter a virtual model name',
  'mapping.name_taken': 'The virtual model name {name} already exists',
  'mapping.entries_required': 'At least one actual model is needed',
  'mapping.model_required': 'Please enter an actual model name',
  'mapping.model_duplicate': 'The actual model name is repeated',
  'mapping.priority_invalid': 'Priority and weight must be whole numbers of at least 0',
  'mapping.unreadable': 'Reloading failed: the stored model mapping cannot be read',
}
