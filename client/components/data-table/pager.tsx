import { HStack, NativeSelect, Text } from '@chakra-ui/react'
import { ChevronLeft, ChevronRight, ChevronsLeft, ChevronsRight } from 'lucide-react'
import { pageSizes } from '#core/page-sizes.ts'
import { t } from '../../i18n/t.ts'
import { formatInteger } from '../../lib/format.ts'
import { fitting } from '../../lib/table-state.ts'
import type { Paging } from '../../lib/table-state.ts'
import { IconButton } from '../icon-button.tsx'
import type { TableData } from './types.ts'

type PagerProps = { paging: Paging; data: TableData<unknown> | undefined }

export function Pager({ paging, data }: PagerProps) {
  const { page, pageSize, fits, setPage, setPageSize } = paging
  const { total, isCapped = false, items = [] } = data ?? {}
  const pages = total === undefined || isCapped ? undefined : Math.max(1, Math.ceil(total / pageSize))
  const isLast = pages === undefined ? items.length < pageSize : page >= pages
  return (
    <HStack as="nav" aria-label={t('分页')} gap="3" wrap="wrap" justify="space-between" w="full" textStyle="sm">
      <Text color="fg.muted" role="status">
        {total !== undefined && t('共 {total} 条', { total: `${formatInteger(total)}${isCapped ? '+' : ''}` })}
      </Text>
      <HStack gap="1">
        <NativeSelect.Root size="sm" w="auto" me="2">
          <NativeSelect.Field
            aria-label={t('每页条数')}
            value={fits ? fitting : pageSize}
            onChange={(event) => setPageSize(Number(event.target.value))}
          >
            <option value={fitting}>{t('填满窗口')}</option>
            {pageSizes.map((size) => (
              <option key={size} value={size}>
                {t('{size} 条/页', { size })}
              </option>
            ))}
          </NativeSelect.Field>
          <NativeSelect.Indicator />
        </NativeSelect.Root>
        <IconButton icon={ChevronsLeft} label={t('第一页')} disabled={page <= 1} onClick={() => setPage(1)} />
        <IconButton icon={ChevronLeft} label={t('上一页')} disabled={page <= 1} onClick={() => setPage(page - 1)} />
        <Text minW="14" textAlign="center" aria-current="page">
          {pages === undefined ? formatInteger(page) : `${formatInteger(page)} / ${formatInteger(pages)}`}
        </Text>
        <IconButton icon={ChevronRight} label={t('下一页')} disabled={isLast} onClick={() => setPage(page + 1)} />
        {pages !== undefined && (
          <IconButton icon={ChevronsRight} label={t('最后一页')} disabled={isLast} onClick={() => setPage(pages)} />
        )}
      </HStack>
    </HStack>
  )
}
