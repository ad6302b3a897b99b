import { Box, Button } from '@chakra-ui/react'
import { useState } from 'react'
import { Notice } from '../../../components/notice.tsx'
import { t } from '../../../i18n/t.ts'
import { PricesDialog } from './prices-dialog.tsx'

/** Names how many models lack a price, and leads to setting it. */
export function UnpricedNotice({ models }: { models: readonly string[] }) {
  const [offered, setOffered] = useState<readonly string[]>()
  if (models.length === 0 && !offered) return null
  return (
    <>
      {models.length > 0 && (
        <Box w="full">
          <Notice
            tone="warning"
            action={
              <Button size="xs" flexShrink="0" onClick={() => setOffered(models)}>
                {t('设置价格')}
              </Button>
            }
          >
            {t('{count} 个模型没有价格，普通用户的调用会被拒绝。', { count: models.length })}
          </Notice>
        </Box>
      )}
      {offered && <PricesDialog models={offered} onClose={() => setOffered(undefined)} />}
    </>
  )
}
