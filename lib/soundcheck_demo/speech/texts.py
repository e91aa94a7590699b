"""Sentences of negative, neutral and positive sentiment that say the same in eight languages.

Conventions
-----------
Sentence ``n`` of a sentiment is the same sentence in every language, as far as languages allow. Japanese is
written in kana with spaces, because the synthesiser knows few readings of kanji. Languages are named by their
ISO 639-1 code.
"""

from __future__ import annotations

SENTIMENTS = ("negative", "neutral", "positive")
EACH = 5  # sentences of a sentiment

SENTENCES = {
    "de": (
        "Das Essen war kalt und schmeckte furchtbar.",
        "Ich habe meine Schlüssel verloren und den Zug verpasst.",
        "Die Bedienung war unhöflich und viel zu langsam.",
        "Der Film war von Anfang bis Ende langweilig.",
        "Mein neues Telefon ging am ersten Tag kaputt.",
        "Der Zug fährt um sieben Uhr morgens ab.",
        "Das Buch liegt auf dem Tisch.",
        "Das Geschäft ist im zweiten Stock.",
        "Wir haben am Dienstag eine Besprechung.",
        "Die Tüte ist aus braunem Papier.",
        "Das Essen war frisch und schmeckte wunderbar.",
        "Ich habe die Prüfung bestanden und eine gute Stelle bekommen.",
        "Die Bedienung war freundlich und sehr schnell.",
        "Der Film war von Anfang bis Ende großartig.",
        "Ich bin glücklich mit meinem neuen Telefon.",
    ),
    "en": (
        "The food was cold and tasted awful.",
        "I lost my keys and missed the train.",
        "The service was rude and far too slow.",
        "The film was boring from start to end.",
        "My new phone broke on the first day.",
        "The train leaves at seven in the morning.",
        "The book is lying on the table.",
        "The shop is on the second floor.",
        "We have a meeting on Tuesday.",
        "The bag is made of brown paper.",
        "The food was fresh and tasted wonderful.",
        "I passed the exam and got a good job.",
        "The service was friendly and very quick.",
        "The film was great from start to end.",
        "I am happy with my new phone.",
    ),
    "es": (
        "La comida estaba fría y sabía muy mal.",
        "Perdí las llaves y no alcancé el tren.",
        "El servicio fue grosero y demasiado lento.",
        "La película fue aburrida de principio a fin.",
        "Mi teléfono nuevo se rompió el primer día.",
        "El tren sale a las siete de la mañana.",
        "El libro está sobre la mesa.",
        "La tienda está en el segundo piso.",
        "Tenemos una reunión el martes.",
        "La bolsa es de papel marrón.",
        "La comida estaba fresca y sabía de maravilla.",
        "Aprobé el examen y conseguí un buen trabajo.",
        "El servicio fue amable y muy rápido.",
        "La película fue estupenda de principio a fin.",
        "Estoy feliz con mi teléfono nuevo.",
    ),
    "fr": (
        "Le repas était froid et avait un goût affreux.",
        "J'ai perdu mes clés et j'ai raté le train.",
        "Le service était impoli et bien trop lent.",
        "Le film était ennuyeux du début à la fin.",
        "Mon nouveau téléphone est tombé en panne le premier jour.",
        "Le train part à sept heures du matin.",
        "Le livre est posé sur la table.",
        "Le magasin se trouve au deuxième étage.",
        "Nous avons une réunion mardi.",
        "Le sac est en papier brun.",
        "Le repas était frais et vraiment délicieux.",
        "J'ai réussi l'examen et trouvé un bon travail.",
        "Le service était aimable et très rapide.",
        "Le film était formidable du début à la fin.",
        "Je suis content de mon nouveau téléphone.",
    ),
    "it": (
        "Il cibo era freddo e aveva un gusto orribile.",
        "Ho perso le chiavi e poi anche il treno.",
        "Il servizio era scortese e troppo lento.",
        "Il film era noioso dall'inizio alla fine.",
        "Il mio telefono nuovo si è rotto il primo giorno.",
        "Il treno parte alle sette del mattino.",
        "Il libro si trova sul tavolo.",
        "Il negozio è al secondo piano.",
        "Martedì abbiamo una riunione.",
        "La busta è di carta marrone.",
        "Il cibo era fresco e aveva un gusto meraviglioso.",
        "Ho superato l'esame e ho trovato un buon lavoro.",
        "Il servizio era gentile e molto veloce.",
        "Il film era bellissimo dall'inizio alla fine.",
        "Sono felice del mio telefono nuovo.",
    ),
    "ja": (
        "りょうりは つめたくて まずかったです。",
        "かぎを なくして でんしゃに のりおくれました。",
        "てんいんは しつれいで とても おそかったです。",
        "えいがは さいしょから さいごまで たいくつでした。",
        "あたらしい でんわは さいしょの ひに こわれました。",
        "でんしゃは あさ しちじに でます。",
        "ほんは つくえの うえに あります。",
        "みせは にかいに あります。",
        "かようびに かいぎが あります。",
        "ふくろは ちゃいろの かみで できて います。",
        "りょうりは しんせんで とても おいしかったです。",
        "しけんに ごうかくして いい しごとに つきました。",
        "てんいんは しんせつで とても はやかったです。",
        "えいがは さいしょから さいごまで すばらしかったです。",
        "あたらしい でんわに まんぞくして います。",
    ),
    "pt": (
        "A comida estava fria e com um gosto horrível.",
        "Perdi as chaves e também o trem.",
        "O atendimento foi grosseiro e lento demais.",
        "O filme foi chato do começo ao fim.",
        "Meu telefone novo quebrou no primeiro dia.",
        "O trem sai às sete horas da manhã.",
        "O livro está em cima da mesa.",
        "A loja fica no segundo andar.",
        "Temos uma reunião na terça-feira.",
        "A sacola é de papel marrom.",
        "A comida estava fresca e com um gosto maravilhoso.",
        "Passei na prova e consegui um bom emprego.",
        "O atendimento foi gentil e muito rápido.",
        "O filme foi ótimo do começo ao fim.",
        "Estou feliz com meu telefone novo.",
    ),
    "zh": (
        "饭菜很凉，味道也很差。",
        "我丢了钥匙，还错过了火车。",
        "服务员没有礼貌，而且太慢了。",
        "这部电影从头到尾都很无聊。",
        "我的新手机第一天就坏了。",
        "火车早上七点出发。",
        "那本书放在桌子上面。",
        "那家商店在二楼。",
        "我们星期二有一个会议。",
        "袋子是棕色的纸做的。",
        "饭菜很新鲜，味道好极了。",
        "我通过了考试，找到了好工作。",
        "服务员很友好，而且非常快。",
        "这部电影从头到尾都很精彩。",
        "我对我的新手机非常满意。",
    ),
}


def place(reader: str, number: int) -> int:
    """Say which sentence a reader reads as number 0 to 2: one of each sentiment.

    Of the ten readers of a language a woman and a man read the same ones.
    """
    return EACH * number + (int(reader[1:]) - 1) // 2 % EACH


def sentiment(place: int) -> str:
    """Give the sentiment of a sentence by its place."""
    return SENTIMENTS[place // EACH]
