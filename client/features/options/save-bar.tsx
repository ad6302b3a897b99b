import { Button, Flex, HStack, Text, chakra } from '@chakra-ui/react'
import { useFormState } from 'react-hook-form'
import { confirm } from '../../components/confirm.tsx'
import { t } from '../../i18n/t.ts'
import { discardWords, usePageLeaveGuard } from '../../lib/leave-guard.ts'
import { useChanges, refusedKeys, useSave, useSettings } from './settings-form.ts'
import { labelOf } from './words.ts'
import type { OptionKey } from '#core/options/registry/index.ts'

const Link = chakra('button', { base: { textDecoration: 'underline', color: 'fg.error', cursor: 'pointer' } })

/** How much is unsaved, what was refused, and the one button that saves it all. */
export function SaveBar({ onShow }: { onShow: (key: OptionKey) => void }) {
  const { form, putBack } = useSettings()
  const changes = useChanges()
  const { errors } = useFormState({ control: form.control })
  const { save, isSaving } = useSave()
  const discard = async () => {
    if (await confirm(discardWords())) putBack()
  }
  usePageLeaveGuard(changes.length > 0)
  const refused = refusedKeys(errors)
  return (
    <Flex
      position="sticky"
      bottom="0"
      zIndex="docked"
      mx={{ base: '-4', sm: '-6' }}
      mb={{ base: '-4', sm: '-5' }}
      px={{ base: '4', sm: '6' }}
      py="2.5"
      gap="3"
      align="center"
      justify="space-between"
      bg="bg.panel"
      borderTopWidth="1px"
      wrap="wrap"
    >
      <Flex gap="3" wrap="wrap" align="center" minW="0" textStyle="sm" aria-live="polite">
        <Text fontWeight={changes.length > 0 ? 'medium' : undefined} color={changes.length > 0 ? 'fg' : 'fg.muted'}>
          {changes.length > 0 ? t('{count} 项修改未保存', { count: changes.length }) : t('没有未保存的修改')}
        </Text>
        {refused.length > 0 && (
          <HStack gap="2" wrap="wrap" color="fg.error">
            <span>{t('需要检查：')}</span>
            {refused.map((key) => (
              <Link key={key} type="button" onClick={() => onShow(key)}>
                {labelOf(key)}
              </Link>
            ))}
          </HStack>
        )}
      </Flex>
      <HStack gap="2" ms="auto">
        {changes.length > 0 && (
          <Button onClick={() => void discard()} disabled={isSaving}>
            {t('全部撤销')}
          </Button>
        )}
        <Button variant="solid" loading={isSaving} onClick={() => void save()}>
          {t('保存')}
        </Button>
      </HStack>
    </Flex>
  )
}
