import type { generalErrors } from './general.ts'

export const generalEnglish: Record<keyof typeof generalErrors, string> = {
  internal: 'Internal server error, please contact the administrator!',
  unavailable: 'The service is temporarily unavailable, please try again later',
  'database.unavailable': 'The database is temporarily unavailable, please try again later',
  forbidden: 'You are not allowed to do this',
  not_found: 'What you asked for does not exist',
  rate_limited: 'Too many requests, please try again later!',
  'input.invalid': 'Invalid parameter: {detail}',
  'input.unreadable': 'The request body cannot be read',
  'input.too_large': 'The request body is too large',
  'input.id_invalid': 'Invalid id',
  'input.selection_empty': 'Please select something first',
  'url.invalid': 'The address is not valid',
  'url.forbidden': 'This address may not be visited',

  'setup.already_done': 'The system has already been initialized',
  'setup.required': 'The system has not been initialized yet',
  'setup.forbidden': 'Please initialize from the address printed at the first start',
  'setup.username_required': 'Please enter the admin username',
  'setup.username_too_long': 'The username may have at most 12 characters',
  'setup.password_too_short': 'Password must be at least 8 characters long',
  'setup.password_mismatch': 'The two passwords entered do not match',
  'setup.failed': 'System initialization failed, please try again',

  'message.not_found': 'The message does not exist',
  'message.title_required': 'Please enter the message title',
  'message.content_required': 'Please enter the message content',
  'message.format_invalid': 'Invalid message format',
  'message.recipients_required': 'Please select at least one recipient',
  'message.dates_incomplete': 'Please choose both a start and an end date',

  'log.time_required': 'Please choose a time up to which to clean',
  'log.key_unknown': 'Invalid token',
  'query.too_slow': 'The query took too long, please narrow the time range or add filters',
  'stats.range_too_long': 'The time range may not exceed one month',
  'task.not_found': 'The task does not exist',
}
