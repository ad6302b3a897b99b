import { Button, Flex, HStack, Input, NativeSelect, Stack, Text, chakra } from '@chakra-ui/react'
import { useState } from 'react'
import type { z } from 'zod'
import type { recipients } from '#features/messages/schema.ts'
import { Check } from '../../components/check.tsx'
import { FieldFrame, useField } from '../../components/fields/field-frame.tsx'
import { PageSteps } from '../../components/page-steps.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import { keepsRows, reportedWhenFailed } from '../../lib/query.ts'
import { trpc } from '../../lib/trpc.ts'
import { recipientsPerPage as pageSize } from './page-sizes.ts'

const Label = chakra('label', {
  base: {
    display: 'flex',
    gap: '2.5',
    alignItems: 'center',
    px: '3',
    py: '1.5',
    cursor: 'pointer',
    _hover: { bg: 'bg.subtle' },
  },
})

type Chosen = z.input<typeof recipients>
type Search = { keyword: string; group: string }

const idsOf = (chosen: Chosen): number[] => ('userIds' in chosen ? chosen.userIds : [])

/** Whom a message goes to: ticked one by one, by the page, or everybody whom the search finds. */
export function RecipientPicker({ name }: { name: string }) {
  const { field, state } = useField(name)
  const [search, setSearch] = useState<Search>({ keyword: '', group: '' })
  const [page, setPage] = useState(1)
  const users = trpc.admin.users.list.useQuery({ ...search, status: 'living', page, pageSize }, keepsRows)
  const chosen = field.value as Chosen
  const ids = idsOf(chosen)
  const rows = users.data?.items ?? []
  const total = users.data?.total ?? 0
  const pages = Math.max(1, Math.ceil(total / pageSize))
  const isAll = 'matching' in chosen
  /** The people shown are those of another search or page. */
  const isStale = users.isPlaceholderData
  const here = rows.filter((row) => ids.includes(row.id)).length
  const tick = (some: readonly number[], on: boolean) => {
    const remaining = ids.filter((id) => !some.includes(id))
    field.onChange({ userIds: on ? [...remaining, ...some] : remaining } satisfies Chosen)
  }
  const look = (patch: Partial<Search>) => {
    setSearch({ ...search, ...patch })
    setPage(1)
  }
  return (
    <FieldFrame label={t('收件人')} required state={state} extra={<Count chosen={chosen} />}>
      {isAll ? (
        <Flex w="full" gap="3" align="center" justify="space-between" wrap="wrap" layerStyle="frame" p="3">
          <Text textStyle="sm">{wordsOf(chosen)}</Text>
          <Button size="sm" variant="outline" onClick={() => field.onChange({ userIds: [] } satisfies Chosen)}>
            {t('改为逐个选择')}
          </Button>
        </Flex>
      ) : (
        <Stack w="full" gap="0" layerStyle="frame" overflow="hidden">
          <SearchFields search={search} onChange={look} />
          <Flex
            px="3"
            py="1.5"
            gap="3"
            align="center"
            justify="space-between"
            wrap="wrap"
            bg="bg.subtle"
            textStyle="sm"
          >
            <HStack as="label" gap="2.5" cursor="pointer">
              <Check
                checked={here === 0 ? false : here === rows.length ? true : 'some'}
                disabled={rows.length === 0 || isStale}
                onChange={(on) =>
                  tick(
                    rows.map((row) => row.id),
                    on,
                  )
                }
              />
              {t('选择本页')}
            </HStack>
            <Button
              size="xs"
              variant="ghost"
              disabled={total === 0 || isStale}
              onClick={() => field.onChange({ matching: search } satisfies Chosen)}
            >
              {t('选择全部 {count} 位匹配的用户', { count: formatInteger(total) })}
            </Button>
          </Flex>
          {users.error && !users.data ? (
            <ErrorState error={users.error} onRetry={() => void users.refetch()} />
          ) : (
            <Stack
              gap="0"
              maxH="64"
              overflowY="auto"
              opacity={isStale ? 0.5 : 1}
              aria-busy={users.isFetching}
              role="group"
              aria-label={t('用户')}
            >
              {rows.map((row) => (
                <Label key={row.id}>
                  <Check checked={ids.includes(row.id)} disabled={isStale} onChange={(on) => tick([row.id], on)} />
                  <Text textStyle="sm" truncate flex="1">
                    {row.username}
                    {row.displayName !== row.username && row.displayName !== '' && (
                      <chakra.span color="fg.muted"> {row.displayName}</chakra.span>
                    )}
                  </Text>
                  <Text textStyle="xs" color="fg.muted">
                    {row.group}
                  </Text>
                </Label>
              ))}
              {users.data && rows.length === 0 && (
                <Text textStyle="sm" color="fg.muted" p="4" textAlign="center">
                  {t('没有匹配的用户')}
                </Text>
              )}
            </Stack>
          )}
          <HStack px="3" py="1" justify="flex-end" borderTopWidth="1px" textStyle="sm">
            <PageSteps page={page} pages={pages} onChange={setPage} />
          </HStack>
        </Stack>
      )}
    </FieldFrame>
  )
}

function Count({ chosen }: { chosen: Chosen }) {
  if ('matching' in chosen) return null
  return (
    <Text textStyle="xs" color="fg.muted" role="status">
      {t('已选择 {count} 位', { count: formatInteger(chosen.userIds.length) })}
    </Text>
  )
}

function wordsOf(chosen: Chosen): string {
  if (!('matching' in chosen)) return ''
  const { keyword = '', group = '' } = chosen.matching
  if (keyword && group) return t('分组“{group}”中匹配“{keyword}”的所有用户', { group, keyword })
  if (keyword) return t('匹配“{keyword}”的所有用户', { keyword })
  if (group) return t('分组“{group}”的所有用户', { group })
  return t('所有用户')
}

function SearchFields({ search, onChange }: { search: Search; onChange: (patch: Partial<Search>) => void }) {
  const groups = trpc.admin.groups.names.useQuery(undefined, reportedWhenFailed)
  return (
    <Flex gap="2" p="2" borderBottomWidth="1px">
      <Input
        size="sm"
        value={search.keyword}
        placeholder={t('搜索用户名或显示名称')}
        aria-label={t('搜索用户名或显示名称')}
        onChange={(event) => onChange({ keyword: event.target.value })}
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <NativeSelect.Root size="sm" w="40" flexShrink="0">
        <NativeSelect.Field
          aria-label={t('分组')}
          value={search.group}
          onChange={(event) => onChange({ group: event.target.value })}
        >
          <option value="">{t('全部分组')}</option>
          {(groups.data ?? []).map((group) => (
            <option key={group} value={group}>
              {group}
            </option>
          ))}
        </NativeSelect.Field>
        <NativeSelect.Indicator />
      </NativeSelect.Root>
    </Flex>
  )
}
