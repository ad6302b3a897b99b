import { HStack, Text } from '@chakra-ui/react'
import { ChevronLeft, ChevronRight } from 'lucide-react'
import { t } from '../i18n/t.ts'
import { IconButton } from './icon-button.tsx'

/** Back and forth between the pages of a small list that is no table. */
export function PageSteps({
  page,
  pages,
  onChange,
}: {
  page: number
  pages: number
  onChange: (page: number) => void
}) {
  return (
    <HStack>
      <IconButton
        size="xs"
        icon={ChevronLeft}
        label={t('上一页')}
        disabled={page <= 1}
        onClick={() => onChange(page - 1)}
      />
      <Text>{`${page} / ${pages}`}</Text>
      <IconButton
        size="xs"
        icon={ChevronRight}
        label={t('下一页')}
        disabled={page >= pages}
        onClick={() => onChange(page + 1)}
      />
    </HStack>
  )
}
