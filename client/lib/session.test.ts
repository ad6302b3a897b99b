import { expect, test } from 'vitest'
import { safeReturn } from './session.ts'

test.each(['/admin/channels?page=2', '/app/logs/api-usage?model=模型 甲#top', '/'])(
  'login leads back to %s',
  (address) => expect(safeReturn(address)).toBe(address),
)

test.each([
  null,
  '',
  'https://evil.example',
  '//evil.example',
  '/\\evil.example',
  '/\t/evil.example',
  '/\n\\evil.example',
  'javascript:alert(1)',
])('login leads nowhere else, whatever a link says: %j', (address) =>
  expect(safeReturn(address, '/home')).toBe('/home'),
)
