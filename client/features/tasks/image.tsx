import { Box, Text, chakra } from '@chakra-ui/react'
import { useState } from 'react'
import { None } from '../../components/cells/numbers.tsx'
import { t } from '../../i18n/t.ts'
import type { Drawing } from './use-tasks.ts'

const Image = chakra('img', {
  base: { display: 'block', maxW: 'full', borderRadius: 'md', borderWidth: '1px', bg: 'bg.muted' },
})

/** An unfinished image changes under its address. */
const addressOf = (task: Drawing): string =>
  task.status === 'SUCCESS' ? task.previewPath : `${task.previewPath}?progress=${encodeURIComponent(task.progress)}`

const hasImage = (task: Drawing): boolean => task.previewPath !== '' && task.action !== 'VIDEO'

/** Small, in the table; images lie elsewhere and may be gone. */
export function Thumbnail({ task }: { task: Drawing }) {
  const [failed, setFailed] = useState('')
  const address = addressOf(task)
  if (!hasImage(task) || failed === address) return <None />
  return <Image src={address} alt="" loading="lazy" boxSize="7" objectFit="cover" onError={() => setFailed(address)} />
}

/** Whole, in the panel, leading to itself. */
export function ImageView({ task }: { task: Drawing }) {
  const [failed, setFailed] = useState('')
  const address = addressOf(task)
  if (!hasImage(task)) return null
  if (failed === address) {
    return (
      <Text textStyle="sm" color="fg.muted">
        {t('图片现在取不到：它可能已被上游删除。')}
      </Text>
    )
  }
  return (
    <Box asChild w="fit-content" maxW="full">
      <a href={address} target="_blank" rel="noreferrer" aria-label={t('在新窗口中打开图片')}>
        <Image src={address} alt={task.prompt.slice(0, 200)} maxH="lg" onError={() => setFailed(address)} />
      </a>
    </Box>
  )
}
