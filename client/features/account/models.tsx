import { Button, HStack, Skeleton, Text } from '@chakra-ui/react'
import { Section } from '../../components/facts.tsx'
import { copyWithToast } from '../../components/copy.tsx'
import { ErrorState } from '../../components/states.tsx'
import { t } from '../../i18n/t.ts'
import { useStore } from '../../lib/store.ts'
import { createStoredJson } from '../../lib/stored.ts'
import { trpc } from '../../lib/trpc.ts'

const shownFirst = 10
const expanded = createStoredJson<boolean>('modelsExpanded', false)

/** The models that the account may call; a press copies the name. */
export function Models() {
  const models = trpc.user.models.list.useQuery()
  const all = useStore(expanded)
  if (models.error && !models.data) return <ErrorState error={models.error} onRetry={() => void models.refetch()} />
  const names = models.data ?? []
  const shown = all ? names : names.slice(0, shownFirst)
  return (
    <Section
      title={t('可用的模型')}
      extra={
        names.length > 0 && (
          <Button size="xs" onClick={() => void copyWithToast(names.join(','))}>
            {t('复制全部')}
          </Button>
        )
      }
    >
      {models.data ? (
        <HStack gap="1.5" wrap="wrap">
          {shown.map((name) => (
            <Button
              key={name}
              size="2xs"
              fontFamily="mono"
              maxW="full"
              aria-label={t('复制 {name}', { name })}
              onClick={() => void copyWithToast(name)}
            >
              <Text as="span" truncate>
                {name}
              </Text>
            </Button>
          ))}
          {names.length === 0 && (
            <Text textStyle="sm" color="fg.muted">
              {t('没有可用的模型')}
            </Text>
          )}
          {names.length > shownFirst && (
            <Button size="2xs" variant="ghost" aria-expanded={all} onClick={() => expanded.set(!all)}>
              {all ? t('收起') : t('展开其余 {count} 个', { count: names.length - shownFirst })}
            </Button>
          )}
        </HStack>
      ) : (
        <Skeleton h="6" />
      )}
    </Section>
  )
}
