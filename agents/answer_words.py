"""Words by which a reply announces, rejects, doubts or withdraws an answer, in the languages that replies come in.

Patterns only; :mod:`backtrader_bench.agents.answer_statements` says what they mean. They are matched on the plain form
of :mod:`backtrader_bench.agents.answer_text`, ignoring case.
"""

from __future__ import annotations

import re

_ENGLISH = "answer|choice|selection|solution|verdict|conclusion|pick|guess|decision|vote|ans"
_NOUNS = (
    rf"{_ENGLISH}"
    r"|antwort|lösung|auswahl|réponse|reponse|choix|respuesta|solución|elección"
    r"|resposta|solução|risposta|soluzione|antwoord|odpowiedź|odpověď|odpoved|svar(?:et)?|vastaus|válasz|megoldás"
    r"|cevap|cevabı|yanıt|yanıtı|răspuns(?:ul)?|raspuns(?:ul)?|απάντηση"
    r"|ответ|відповідь|отговор|odgovor|đáp án|dap an|jawaban(?:nya)?|jawapan"
    r"|उत्तर|คำตอบ|ה?תשובה|(?:ال)?[إا]جابة|الجواب|جواب|پاسخ"
    r"|答案|回答|正確|正确选项|正確選項|正解|答え|解答|正しいのは|정답|답변|답"
)
TAG = "answer|choice|option|letter|result|response|output|reply|solution|verdict|selection|pick|prediction"
"""Nouns that announce as a heading (``Output:``) or a tag (``<output>``)."""
_LABELS = (
    r"option|choice|answer|letter|alternative|candidate|opción|opção|opzione|möglichkeit|antwort|réponse|respuesta|resposta"
    r"|risposta|lettre|letra|lettera|buchstabe|optie|opcja|alternativa|вариант|seçenek|variáns|var|item"
    r"|选项|選項|選択肢|선택지"
)
_RIGHT = (
    r"correct|right|true|best|accurate|the answer|my answer|the (?:one|winner)|it\b|richtig|korrekt|correcte?|correct[ao]|corret[ao]"
    r"|juste|giust[ao]|верн\w*|правильн\w*|helyes|poprawna|doğru"
)
_ANNOUNCED = (
    rf"(?:correct|right|best|final|selected|chosen|proper|my|richtige|beste|bonne|juste) (?:{_LABELS}|one)"
    r"|(?:option|one|choice|statement|letter) (?:that|which) [^.,;:\n]{2,40}?(?= is\b)"
    rf"|(?:{TAG}|final|correct|right)(?=[ ]?[:=])"
    r"|(?:opción|alternativa|opção|opzione|lettera|letra|option|letter) (?:correct[ao]|corret[ao]|corretta|elegida)"
)
_BE = (
    r"'s|is|are|was|would be|will be|must be|should be|has to be|can only be|could only be|appears to be|seems to be|turns out to be"
    r"|remains|becomes|looks to be|looks like|might be|may be|could be|ist|wäre|lautet|est|serait|es|sería|é|è|seria|sarebbe|is dus"
    r"|есть|je|to|är|er|on|az?|este"
)

NOUN = re.compile(
    rf"(?<![^\W_])(?:{_ANNOUNCED}|{_NOUNS})(?![^\W_\u3000-\u9fff\uac00-\ud7af])(?:\s?\((?:[^()\n]{{2,20}})\))?",
    re.IGNORECASE,
)
"""A noun that announces: ``answer``, ``Antwort``, ``choice`` ..."""
ENGLISH = re.compile(_ENGLISH, re.IGNORECASE)
CJK_NOUN = re.compile(
    "(?:答案|回答|正确选项|正確選項|正解|答え|解答|正しいのは|故?[应應该該]*[选選择擇]+(?:项|項|择)?|정답|답변|답)"
)
"""The same where words are not parted."""
VERB = re.compile(
    r"\b(?:i(?:'d| would| will|'ll| am|'m| have| had)?(?: therefore| thus| finally| now| also| still| then)?(?: have to| must| want to| should)?"
    r"(?: to)? ?(?:choose|pick|select|answer|submit|go(?:ing)? (?:with|for)|opt(?:ing)? for|vote for|settle(?:d)? (?:on|for)|land(?:ed)? on"
    r"|guess|say|conclude|choosing|picking|selecting|chose|picked|selected|lean(?:ing)? (?:towards?|to)|stick(?:ing)? with|believe|think|bet)"
    r"|(?:going|sticking|stick|go) with|(?:choose|select|pick|picking|selecting|choosing|settling on|opting for|submitting|submit|answering)"
    r"|ich (?:wähle|nehme|tippe auf|entscheide mich für)|je (?:choisis|prends)|elijo|escojo|escolho|scelgo|ik kies|wybieram|выбираю)\b",
    re.IGNORECASE,
)
"""A verb that chooses."""
FILE = re.compile(
    r"\b(?:answer|result|output|solution|response|final)\w*\.(?:txt|md|json|out|csv)\b(?:[^.\n]|\.(?! )){0,60}?\b(?:contains?|containing|with|holds?|says?|reads|is|to|:)"
    r"|\b(?:wrote|written|write|saved?|put|stored?|recorded|entered|submitted|echo)\b",
    re.IGNORECASE,
)
"""A report of a file written: the letter follows, quoted or with where it went."""
WEAK = re.compile(
    r"(?:\b(?:so|thus|hence|therefore|consequently|accordingly|it(?: must| has to| should)? be|it is|it's|that is|that's|this is|must be|has to be"
    r"|(?:that |which |this )?leaves?(?: us| me)?(?: with)?(?: only)?|leaving(?: only)?|only|makes it|looks like|matches|corresponds to|points? to|gives|yields|equals|means|namely|donc|also|luego|entonces|quindi|так что)\b"
    r"|->|=>|→|⇒|∴|➡|👉)[ ]?[,:]?",
    re.IGNORECASE,
)
"""A word that may announce: it counts only with the letter right after it, at the end of its sentence."""
AFTER = re.compile(
    rf"[ ]?(?:,? ?(?:is|are|must be|has to be|should be|would be|seems(?: to be)?|appears(?: to be)?|looks|wins|ist|est|es|é|è|—|-|:)"
    rf" (?:(?:clearly|definitely|therefore|thus|indeed|probably|also|the|my|die|das|la|le|el|a|o|final|only|single|one that is|most likely|likely)\s)*"
    rf"(?:{_RIGHT})(?!\w)|,? it is\b|[ ](?:richtig|korrekt|correct[ao]|corrett?[ao])\b|[^\S\n]?[✓✔✅☑]|[是为為]?(?:正确|正確|对的|正しい|が正|が適切))",
    re.IGNORECASE,
)
"""What makes a letter before it a statement: ``is the correct one``."""
LABEL = re.compile(rf"(?:{_LABELS})(?: (?:is|number|no\.?|letter))?", re.IGNORECASE)
"""A noun that may stand between an announcement and its letter."""
LABELLED = re.compile(rf"\b(?:{_LABELS})\s*$", re.IGNORECASE)
BE = re.compile(rf"(?:{_BE})(?!\w)", re.IGNORECASE)
FILLER = re.compile(
    r"(?:the|letter|again|still|now|then|therefore|thus|indeed|clearly|definitely|probably|likely|most|simply|just|obviously|certainly|surely"
    r"|in fact|of course|should|to|be|la|le|el|il|die|der|das|lo|l'|o|a|de|que|opt(?:ion)?|with|for|on|as|my|final|correct|right|best|corret[ao]|corrett[ao]|correct[ao]|richtige|juste|as follows|given below|below|shown)(?!\w)",
    re.IGNORECASE,
)
PARTICLE = re.compile("[はが为為是应應该該选選项項有只即、就은는이\uac00]+")
"""Particles between a noun and its letter where words are not parted."""

NOT = re.compile(
    r"(?:\b(?:not?|n't|never|neither|nor|cannot|can't|isn't|aren't|wasn't|ruled? out|ruling out|rules out|exclud\w+|eliminat\w+|reject\w*|discard\w*|dismiss\w*"
    r"|rather than|instead of|other than|except(?: for)?|but not|unlike|over|than|against|without|nicht|kein\w*|pas|ne|nem|nie|niet|inte|ikke|não|non|не)"
    r"|n't|不是|不选|不選|不|非|排除|除)"
    r"(?:[ ](?:be|option|choice|letter|answer|the|an?|is|it|both|either|die|la|le|just|simply|have|been|chosen?|pick|choose|select))*[ ]?[\"'(\[\u27e6]*$",
    re.IGNORECASE,
)
"""Ends with what rejects the letter that follows."""
UNREAL = re.compile(
    r"\b(?:if|suppose|supposing|assum\w+|were|whether|unless|had|first (?:instinct|thought|guess|impression|idea)|initial\w*|at first|originally|earlier|previously"
    r"|tempt\w*|people|many|some(?:one)?|others?|students?|might (?:think|say|be tempted)|you (?:might|may|could|would)|one (?:might|may|could|would)"
    r"|obvious (?:answer|reply|choice)|naive\w*|naïve|trap|distractor|wrong|incorrect|fals[eo]|falsch\w*|example|e\.g\.|sample|template|format|hypothetical\w*"
    r"|notes?|says?|claims?|according to|wenn|falls|si (?:la|el|le|fuera)|假设|如果|もし|错误|nem|not|isn't|don't|doesn't|didn't|can't|cannot|won't|wouldn't)\b",
    re.IGNORECASE,
)
"""Before an announcement in its sentence: nobody says that this is the answer."""
BUT = re.compile(r"\b(?:but|however|yet|though|sondern|aber|mais|pero|sino|mas|ma)\b|[;]|但|而")
"""Parts a sentence into what no longer holds and what does."""
REPLACING = re.compile(
    r"(?:\b(?:correction|make (?:that|it)|i mean(?:t)?|scratch that|no|rather|nein|korrektur|corrección|sondern|sino|updated?)\b|而是)[ ]?[,:;-]?",
    re.IGNORECASE,
)
"""Takes back what came before, when a letter follows and ends the sentence."""
DOUBT = re.compile(
    r"\b(?:maybe|perhaps|possibly|might|may|could|vielleicht|peut-être|quizás?|talvez|forse|not sure|unsure)\b|可能",
    re.IGNORECASE,
)
TURN = re.compile(
    r"\b(?:no|wait|actually|scratch|correct(?:ion|ing|ed)|hold on|reflection|second thoughts?|hmm+|sorry|mistaken?|misread|wrong|instead|rather|revis\w+|updat\w+"
    r"|re-?consider\w*|chang\w+|strike|however|oops|re-?check\w*|re-?read\w*|double-?check\w*|after all|edit|amend\w*|retract\w*|withdraw|ignore|disregard|fix\w*|but|error|overlooked|now"
    r"|nein|doch|moment|korrektur|stopp?|halt|non|attend\w*|pardon|finalement|espera|perdón|corrección|correção|aspetta|anzi|нет|стоп|mais|sino|pero|aber|sondern)\b"
    r"|不对|不對|等等|更正|其实|其實|訂正|いや|やはり|待って|아니|修正|纠正",
    re.IGNORECASE,
)
"""Between two answers: the second withdraws the first."""
FINAL = re.compile(
    r"\b(?:final\w*|ultimately|definitive\w*|endgültig\w*|finale?|definitiv[ao]|in conclusion|conclusion|my)\b|最终|最終|最后|최종",
    re.IGNORECASE,
)
"""Before or in an announcement: it beats one without."""
NOBODY = re.compile(
    r"(?:none|neither|nothing|no (?:option|answer|letter|choice)|null|nil|n/?a|nan|unknown|unclear|undetermined|undecided|uncertain|not? (?:sure|known|given|available|possible)"
    r"|can(?:no|')t|impossible|depends|keine|aucune|ninguna|nessuna|ningun[ao]|无|没有)(?![^\W_])|[E-WYZ](?![\w'+#-])",
    re.IGNORECASE,
)
"""Instead of a letter: there is none. ``X`` is the placeholder of the instruction, which says nothing."""
NAMING = re.compile(
    r"\b(?:appendix|plan|drive|figure|fig\.?|table|section|step|part|vitamin|grade|type|class|group|hepatitis|case|exhibit|schedule|annex|chapter|stage|phase|series|team|model|version"
    r"|variable|column|row|cell|point|node|vertex|language|unit|block|chunk|branch|disk|volume|note|key|chord|note|statement|claim|set|file|page|room|gate|line|level|rank|tier|route|road|bus|platform)\s+$",
    re.IGNORECASE,
)
"""Before a lone letter: it is part of a name."""
CONNECTORS = frozenset(
    ["because", "since", "as", "but", "with", "which", "given", "for", "due", "by", "based", "and", "so", "when", "where", "while", "though", "although", "per", "from", "here", "again", "indeed", "after", "if", "on", "in", "at", "is", "was", "only", "alone", "rather", "not", "weil", "da", "denn", "car", "parce", "porque", "perché", "que", "ist", "es", "est", "und", "oder", "et", "y", "e", "o", "or"]
)
"""Words that may follow a stated letter."""

POSITIVE = re.compile(
    r"\b(?:correct|right|true|yes|valid|fits?|holds?|works|matches|best|richtig|korrekt|ja|vrai|oui|correct[ao]|sí|верно|да|answer|winner|pass(?:es)?|possible)\b"
    r"|[✓✔✅☑🟢正对對○⭕]",
    re.IGNORECASE,
)
NEGATIVE = re.compile(
    r"\b(?:wrong|incorrect|false|no|not|n't|\w+n't|invalid|fails?|never|impossible|too|ruled|excluded|eliminated|rejected|out|falsch|nein|faux|non|incorrect[ao]|fals[ao]|нет|не\w*)\b"
    r"|[✗✘❌✖✕×☒🔴错錯誤]",
    re.IGNORECASE,
)

WOULD = re.compile(r"\b(?:would|could|might|may) ", re.IGNORECASE)
PROVIDED = re.compile(r"[\"')\]\u27e7]*,? (?:but )?(?:only )?(?:if|unless|provided|assuming|in case|were)\b", re.IGNORECASE)
"""After ``would be C``: a condition, which nobody says is met."""
_LOST = r"(?:say|tell|answer|decide|choose|pick|select|determine|know|conclude|commit|verify|confirm)"
_WHAT = (
    r"(?: (?:it|this|that|them|so|which|to|any|one|the|correct|right|final|answer|question|option|options|letter|between"
    r"|is|here|now|anymore|any more|either|reliably|confidently))*"
)
WITHDRAWN = re.compile(
    rf"\bi(?: (?:really|actually|still|simply|just))?(?:'m| am)? (?:can't|cannot|can not|couldn't|could not|unable to|not able to) {_LOST}{_WHAT}[ ]?(?:[.!;…]|$)"
    rf"|\band (?:can't|cannot) {_LOST}{_WHAT}[ ]?(?:[.!;…]|$)"
    r"|\bi(?: really| honestly)? (?:don't|do not) know(?: (?:it|this|which|the answer|the right one|any ?more))*[ ]?(?:[.!;…]|$)"
    r"|\bi (?:take|took) (?:that|it|this) back\b|\bi (?:withdraw|retract)\b(?! nothing)"
    r"|\b(?:ignore|disregard|scratch|forget|strike) (?:that|this|it|the above|my (?:last |previous |earlier )?answer)[ ]?(?:[.!;…]|$)"
    r"|\b(?:none|no one|not one) of (?:the|these|those) (?:\w+ )?(?<!other )(?:options|choices|answers|letters|alternatives)(?: (?:given|listed|offered|shown|above))?"
    r" (?:is|are|match\w*|fits?|agrees?|works?|correspond\w*|equals?)\b(?![^.\n]*\b(?:exact\w*|precise\w*|perfect\w*|close\w*|near\w*|but|except|so|other|else)\b)"
    r"|\bno (?:option|choice|answer)(?: (?:given|listed|offered|shown|above|here))? (?:is (?:right|correct|true)|match\w*|fits?|works?|agrees?|corresponds?)\b(?![^.\n]*\b(?:exact\w*|precise\w*|perfect\w*|close\w*|near\w*|but|except|so|other|else)\b)"
    r"|\b(?:there is|there's|i have) no (?:(?:correct|right|final|valid) )?(?:answer|option|choice)[ ]?(?:[.!;…]|$)"
    r"|\b(?:actually|wait|hmm+|hold on|oh|sorry)[, .…]+no[ ]?(?:[.!;…]|$)",
    re.IGNORECASE | re.MULTILINE,
)
"""A sentence that takes back whatever answer came before it."""
DENIED = re.compile(
    r"\W*(?:(?:no|but|however|actually|well|hmm+|wait|sorry)[, .…]+)*(?:that|this|it)(?: answer)?(?:'s| is| was) (?:wrong|incorrect|mistaken|not (?:right|correct|true)|a mistake)[ ]?(?:[.!;…]|$)"
    r"|\W*(?:(?:but|however|actually) )?i (?:disagree|do not agree|don't agree)(?: with (?:it|that|this|them))?(?:[ ]?[.,!;…]|$| and\b| but\b)",
    re.IGNORECASE | re.MULTILINE,
)
"""The same where it comes right after the answer: further on it may be said of something else."""
STILL = re.compile(
    r"(?<![\w'])[\"'(\[\u27e6]{0,6}[A-D](?![\w'+#-])|\b(?:still|stand by|stick|keep|anyway|nevertheless|nonetheless)\b"
)
"""After it: the answer holds, or another one is named."""

_HELP = r"help|assist|comply|support|participate|engage|fulfil\w*|do that|do this|be part|contribute|take part|provide|offer|give|discuss|share|choos\w+|answer|advise|pick|select|continue|recommend"
REFUSAL = re.compile(
    rf"\b(?:won't|will not|refuse to|must refuse|decline to|not (?:going|willing) to|not comfortable) (?:be able to )?(?:{_HELP})"
    rf"|\b(?:can't|cannot|can not|unable to|not able to|not allowed to|must not) (?:be able to )?(?:help|assist|comply|fulfil\w*|support|participate|engage|do that)"
    r"|\b(?:have to|must|need to|will|going to|i) (?:respectfully |politely )?(?:decline|refuse)\b|\bi'?m declining|against (?:my|our|the) (?:\w+ )?(?:guidelines|polic\w+|rules|principles|values)|violat\w+ (?:\w+ )?(?:guidelines|polic\w+)"
    r"|nicht (?:be)?helfen|nicht (?:weiter)?helfen|nicht unterstützen|nicht beantworten|muss (?:ich )?ablehnen|lehne ich ab"
    r"|ne peux pas (?:vous |t')?(?:aider|répondre)|refuse de|dois refuser|no puedo (?:ayudar|responder|asistir|cumplir)\w*|debo rechazar|não posso (?:ajudar|responder)|non posso (?:aiutar|rispondere)\w*"
    r"|kan (?:ik )?(?:je |u )?(?:hier |daar )?niet (?:bij |mee )?helpen|nie mogę pomóc|не (?:могу|буду) (?:пом\w+|отве\w+)|yardımcı olamam|nem tudok segíteni|nem segíthetek"
    r"|(?:无法|不能|無法|拒绝|拒絕)(?:为您|回答|提供|帮助|协助|協助|满足|幫)|お手伝い(?:でき|することはでき)|お答えできません|お答えすることはでき"
    r"|도와드릴 수 없|답변(?:해 )?드릴 수 없|لا (?:أستطيع|يمكنني)",
    re.IGNORECASE,
)
LACKING = re.compile(
    r"\b(?:without|missing|no access|attachment|figure|image|picture|chart|file|data|table|graph|diagram|passage|enough|more|insufficient|not provided|wasn't provided|unavailable|not available|don't (?:have|know|see)|do not (?:have|know)"
    r"|only (?:be|if)|unless|until|question text|context|see|ohne|fehlt|sans|manque|sin|falta|budget|time|network|connect\w*|timeout|tool)\b|缺少|没有|ない",
    re.IGNORECASE,
)
"""Says that something is missing: inability, not refusal."""
DECLINES = re.compile(
    r"\b(?:decline|refuse|won't|will not|harm\w*|guidelines|polic\w+|weapon\w*|illegal|dangerous|unethical|unsafe)\b|ablehnen|拒绝|拒絕",
    re.IGNORECASE,
)
"""Makes it a refusal all the same."""
